// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers of a resolver and a kernel, the same on every machine, for targets that link
// trace_fake_network: a few names, and the addresses of this machine.
#include <ifaddrs.h>
#include <netdb.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

extern "C" int __real_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**);

namespace {

const std::map<std::string, std::vector<const char*>> kHosts{
    {"one", {"192.0.2.1"}},
    {"two", {"192.0.2.2", "2001:db8::2"}},
    {"many", {"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.200", "::1"}},
    {"none", {}}};

constexpr std::array kOwnAddresses{"127.0.0.1", "::1", "192.0.2.200", "2001:db8::200"};

// Puts a numeric address before the others.
void put_before(const char* address, addrinfo** list) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* one = nullptr;
  if (__real_getaddrinfo(address, nullptr, &hints, &one) != 0) std::abort();
  one->ai_next = *list;
  *list = one;
}

struct Interfaces {
  std::array<ifaddrs, kOwnAddresses.size()> all{};  // the first one is what the caller frees
  addrinfo* addresses = nullptr;
};

}  // namespace

extern "C" {

int __wrap_getaddrinfo(const char* name, const char*, const addrinfo*, addrinfo** list) {
  const auto host = kHosts.find(name);
  if (host == kHosts.end()) return EAI_NONAME;
  *list = nullptr;
  for (const char* address : host->second) put_before(address, list);
  return 0;
}

int __wrap_getifaddrs(ifaddrs** list) {
  auto* made = new Interfaces;
  for (const char* address : kOwnAddresses) put_before(address, &made->addresses);
  *list = nullptr;
  const addrinfo* address = made->addresses;
  for (auto each = made->all.rbegin(); each != made->all.rend(); ++each) {
    each->ifa_addr = address->ai_addr;
    each->ifa_next = *list;
    *list = &*each;
    address = address->ai_next;
  }
  return 0;
}

void __wrap_freeifaddrs(ifaddrs* list) {
  const auto* made = reinterpret_cast<Interfaces*>(list);
  freeaddrinfo(made->addresses);
  delete made;
}
}
