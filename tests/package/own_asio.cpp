// SPDX-License-Identifier: LGPL-2.1-or-later
// An application that uses Asio, linked with the static library, which contains an Asio of its own.
#include <pcp/trace.h>

#include <asio.hpp>
#include <chrono>
#include <iostream>

int main() {
  asio::io_context context;
  asio::steady_timer timer(context, std::chrono::milliseconds(1));
  asio::ip::tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  asio::ip::tcp::socket peer(context);
  int events = 0;
  acceptor.async_accept(peer, [&](std::error_code error) { events += error ? 0 : 1; });
  asio::ip::tcp::socket socket(context);
  timer.async_wait([&](std::error_code) {
    events += pmtracepoint("package") == 0 ? 1 : 0;
    socket.async_connect(acceptor.local_endpoint(),
                         [&](std::error_code error) { events += error ? 0 : 1; });
  });
  context.run();
  if (events != 3 || pmtrace_flush(100) != 1) return 1;
  std::cout << "traced\n";
}
