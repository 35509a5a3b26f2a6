// SPDX-License-Identifier: LGPL-2.1-or-later
#include "chaos/proxy.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "chaos/passage.hpp"

namespace pcp::trace::chaos {
namespace {

template <typename Address>
int listen_at(Address& address) {
  socklen_t length = sizeof address;
  auto* bare = reinterpret_cast<sockaddr*>(&address);
  const int listener = ::socket(bare->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0 || ::bind(listener, bare, length) != 0 || ::listen(listener, 64) != 0 ||
      ::getsockname(listener, bare, &length) != 0)
    std::abort();
  return listener;
}

}  // namespace

Door open_unix_door(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return {listen_at(address), path, 0};
}

Door open_tcp_door() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = listen_at(address);
  return {listener, "", ntohs(address.sin_port)};
}

Proxy::Proxy(asio::io_context& loop, std::uint64_t seed, const std::vector<Door>& doors)
    : loop_(loop), seed_(seed), doors_(doors), accepted_(doors.size()), knocked_(doors.size()) {
  for (const Door& door : doors) listeners_.emplace_back(loop, door.listener);
  for (std::size_t client = 0; client < doors.size(); ++client) accept(client);
}

Proxy::~Proxy() { cut_all(); }

void Proxy::set_agent(const std::string& socket_path, std::uint16_t port) {
  agent_path_ = socket_path;
  agent_port_ = port;
}

void Proxy::accept(std::size_t client) {
  listeners_[client].async_wait(
      asio::posix::stream_descriptor::wait_read, [this, client](const asio::error_code& error) {
        if (error) return;
        const int socket = ::accept4(listeners_[client].native_handle(), nullptr, nullptr,
                                     SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) {
          ++figures_.connections;
          knocked_[client] = true;
          const bool is_tcp = doors_[client].socket_path.empty();
          const std::uint64_t stream = 1000 + client * 100'000 + accepted_[client]++;
          const auto passage = std::make_shared<Passage>(
              *this, Passage::Socket(loop_, {is_tcp ? AF_INET : AF_UNIX, 0}, socket), is_tcp,
              Random(seed_, stream));
          passages_.insert(passage);
          passage->begin();
        }
        accept(client);
      });
}

void Proxy::go_away() {
  is_away_ = true;
  cut_all();
  knocked_.assign(knocked_.size(), false);
}

void Proxy::calm_down() {
  is_calm_ = true;
  const auto all = passages_;  // a copy: some passages remove themselves
  for (const auto& passage : all) passage->calm_down();
}

void Proxy::cut_all() {
  for (const auto& passage : passages_) passage->end();
  passages_.clear();
}

}  // namespace pcp::trace::chaos
