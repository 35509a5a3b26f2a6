// The answers of a resolver and a kernel that are the same on every machine, for targets that are
// linked with trace_fake_network: a few names, and the addresses of this machine.
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

// An element of a list as C has them.
template <typename Element>
struct WithAddress {
  Element element{};
  sockaddr_storage address{};
};

}  // namespace

extern "C" {

int __wrap_getaddrinfo(const char* name, const char*, const addrinfo*, addrinfo** list) {
  const auto host = kHosts.find(name);
  if (host == kHosts.end()) return EAI_NONAME;
  *list = nullptr;
  for (const char* text : host->second) {
    auto* each = new WithAddress<addrinfo>;
    each->address = make_address(text);
    each->element.ai_family = each->address.ss_family;
    each->element.ai_addr = reinterpret_cast<sockaddr*>(&each->address);
    each->element.ai_next = *list;
    *list = &each->element;
  }
  return 0;
}

void __wrap_freeaddrinfo(addrinfo* list) {
  while (list != nullptr) {
    addrinfo* next = list->ai_next;
    delete reinterpret_cast<WithAddress<addrinfo>*>(list);
    list = next;
  }
}

int __wrap_getifaddrs(ifaddrs** list) {
  *list = nullptr;
  for (const char* text : kOwnAddresses) {
    auto* each = new WithAddress<ifaddrs>;
    each->address = make_address(text);
    each->element.ifa_addr = reinterpret_cast<sockaddr*>(&each->address);
    each->element.ifa_next = *list;
    *list = &each->element;
  }
  return 0;
}

void __wrap_freeifaddrs(ifaddrs* list) {
  while (list != nullptr) {
    ifaddrs* next = list->ifa_next;
    delete reinterpret_cast<WithAddress<ifaddrs>*>(list);
    list = next;
  }
}
}
