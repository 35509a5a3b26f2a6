// Who may connect: the rules of -A.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pcp::trace::agent {

enum class Access { Allowed, NotPermitted, TooManyConnections };

// Peer addresses come as text, as asio's address::to_string gives them; the Unix socket is "local:".
// Thread: filled before the server starts, then the ingest thread's.
class AccessList {
 public:
  AccessList();
  ~AccessList();
  AccessList(AccessList&&) noexcept;
  AccessList& operator=(AccessList&&) noexcept;

  // Takes one -A argument. Gives an empty string, or what is wrong with it in one line.
  std::string add(std::string_view rule);

  // Decides about a new connection and, if it is allowed, counts it until release().
  Access acquire(std::string_view peer);
  void release(std::string_view peer);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace pcp::trace::agent
