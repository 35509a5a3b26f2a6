// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers of a resolver and a kernel, the same on every machine, for targets that link
// trace_fake_network: a few names, and the addresses of this machine.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <map>
#include <string>
#include <vector>

namespace {

using Addresses = std::vector<const char*>;

const std::map<std::string, Addresses> kHosts{
    {"one", {"192.0.2.1"}},
    {"two", {"192.0.2.2", "2001:db8::2"}},
    {"many", {"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.200", "::1"}},
    {"none", {}}};

const Addresses kOwnAddresses{"127.0.0.1", "::1", "192.0.2.200", "2001:db8::200"};

sockaddr_storage make_address(const char* text) {
  sockaddr_storage address{};
  auto& ipv4 = reinterpret_cast<sockaddr_in&>(address);
  auto& ipv6 = reinterpret_cast<sockaddr_in6&>(address);
  address.ss_family = inet_pton(AF_INET, text, &ipv4.sin_addr) == 1 ? AF_INET : AF_INET6;
  if (address.ss_family == AF_INET6) inet_pton(AF_INET6, text, &ipv6.sin6_addr);
  return address;
}

// An element of a C list.
template <typename Element>
struct WithAddress {
  Element element{};
  sockaddr_storage address{};
};

// The two kinds of lists differ in the names of the address and of the next element.
template <auto kAddress, auto kNext, typename Element>
void make_list(const Addresses& addresses, Element** list) {
  *list = nullptr;
  for (const char* text : addresses) {
    auto* each = new WithAddress<Element>;
    each->address = make_address(text);
    each->element.*kAddress = reinterpret_cast<sockaddr*>(&each->address);
    each->element.*kNext = *list;
    *list = &each->element;
  }
}

template <auto kNext, typename Element>
void free_list(Element* list) {
  while (list != nullptr) {
    Element* next = list->*kNext;
    delete reinterpret_cast<WithAddress<Element>*>(list);
    list = next;
  }
}

}  // namespace

extern "C" {

int __wrap_getaddrinfo(const char* name, const char*, const addrinfo*, addrinfo** list) {
  const auto host = kHosts.find(name);
  if (host == kHosts.end()) return EAI_NONAME;
  make_list<&addrinfo::ai_addr, &addrinfo::ai_next>(host->second, list);
  for (addrinfo* each = *list; each != nullptr; each = each->ai_next)
    each->ai_family = each->ai_addr->sa_family;
  return 0;
}

void __wrap_freeaddrinfo(addrinfo* list) { free_list<&addrinfo::ai_next>(list); }

int __wrap_getifaddrs(ifaddrs** list) {
  make_list<&ifaddrs::ifa_addr, &ifaddrs::ifa_next>(kOwnAddresses, list);
  return 0;
}

void __wrap_freeifaddrs(ifaddrs* list) { free_list<&ifaddrs::ifa_next>(list); }
}
