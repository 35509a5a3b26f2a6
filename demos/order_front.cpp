// SPDX-License-Identifier: LGPL-2.1-or-later
// The front of a pretend shop, one of three programs that handle a request:
//
//   order_front SECONDS SOCKET SCRIPT
//
// Asks order_worker, in C, through a socket, with the trace in its protocol, and runs
// order_receipt.sh, with the trace in the environment. Regularly prints the cost of a begin and an
// end: within an order, and beside orders.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <pcp/trace.hpp>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

pcp::trace::Transaction order{"order"};
pcp::trace::Transaction add_up{"add-up"};
pcp::trace::Transaction ask_stock{"ask-stock"};
pcp::trace::Transaction print_receipt{"print-receipt"};
pcp::trace::Transaction tick{"tick"};
pcp::trace::Point discount{"discount"};

// Nanoseconds of a begin and an end.
double cost_of(pcp::trace::Transaction& tag, int times) {
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i) {
    auto running = tag.begin();
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / times;
}

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  for (int attempt = 0; attempt < 100; ++attempt) {  // the worker may be about to start
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    std::this_thread::sleep_for(milliseconds(50));
  }
  std::perror("order_front: the worker");
  std::exit(1);
}

// False if nothing is left.
bool stock_has(int worker, int article) {
  auto running = ask_stock.begin();
  const pcp::trace::TraceHeaders headers = pcp::trace::current_headers();
  const std::string question =
      std::string(headers ? headers.traceparent() : "-") + " " + std::to_string(article) + "\n";
  char answer = 'n';
  if (::write(worker, question.data(), question.size()) < 0 || ::read(worker, &answer, 1) != 1 ||
      answer != 'y')
    running.abort();
  return answer == 'y';
}

void run_script(const std::string& script) {
  auto running = print_receipt.begin();
  ::setenv("TRACEPARENT", pcp::trace::current_headers().traceparent(), 1);
  if (std::system(("sh " + script).c_str()) != 0) running.abort();
}

// Gives the cost of a transaction within the order; the first one only warms the caches.
double serve(int worker, const std::string& script, int number) {
  auto running = order.begin();
  cost_of(add_up, 1);
  const double cost = cost_of(add_up, 1);
  if (number % 2 == 0) discount.hit();
  std::this_thread::sleep_for(milliseconds(2));
  if (!stock_has(worker, number))
    running.abort();
  else
    run_script(script);
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "Usage: order_front SECONDS SOCKET SCRIPT\n";
    return 2;
  }
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  const int worker = connect_to(argv[2]);
  for (int number = 1; Clock::now() < end; ++number) {
    const double within = serve(worker, argv[3], number);
    for (int i = 0; i < 25; ++i) {
      std::cout << "beside " << cost_of(tick, 1000) << "\n";
      std::this_thread::sleep_for(milliseconds(30));
    }
    std::cout << "within " << within << std::endl;
  }
}
