#include "agent/label_json.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "agent/printable.hpp"

namespace pcp::trace::agent {

namespace {

// Writes one JSON object. The first value of a name wins, and what would make the whole too large
// for PCP is left out.
class LabelObject {
 public:
  void add(std::string_view name, std::string_view value) {
    if (!is_label_name(name) || !names_.insert(std::string(name)).second) return;
    const std::string member =
        "\"" + std::string(name) + "\":\"" + escaped(printable(value)) + "\"";
    if (members_.size() + member.size() > kMaxBytes) return;
    if (!members_.empty()) members_ += ',';
    members_ += member;
  }

  // A name that is the agent's to give: the process's own word for it is never taken.
  void add_known(std::string_view name, std::uint32_t id) {
    if (id == kUnknownUid) {
      names_.insert(std::string(name));
    } else {
      add(name, std::to_string(id));
    }
  }

  void add(const Origin& origin) {
    if (!origin.service.empty()) add("service", origin.service);
    for (const auto& [name, value] : origin.labels) add(name, value);
  }

  std::string str() const { return "{" + members_ + "}"; }

 private:
  // PCP's bound for the labels of a metric value, from all sources, is 64 KiB.
  static constexpr std::size_t kMaxBytes = 32 * 1024;
  static constexpr std::size_t kMaxNameLength = 255;

  // PCP takes letters, digits, underscores and dots, a letter first, and refuses the whole object
  // for one other name.
  static bool is_label_name(std::string_view name) {
    const auto is = [](auto test, char c) { return test(static_cast<unsigned char>(c)) != 0; };
    return !name.empty() && name.size() <= kMaxNameLength && is(isalpha, name.front()) &&
           std::all_of(name.begin(), name.end(),
                       [&](char c) { return is(isalnum, c) || c == '_' || c == '.'; });
  }

  // Requires: `text` is printable.
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  }

  std::string members_;
  std::set<std::string> names_;
};

}  // namespace

std::string tag_labels_json(std::string_view tag, const Origin* origin) {
  LabelObject labels;
  labels.add("tag", tag);
  if (origin) labels.add(*origin);
  return labels.str();
}

std::string process_labels_json(const ClientView& client) {
  LabelObject labels;
  labels.add("pid", std::to_string(client.pid));
  labels.add_known("userid", client.uid);
  labels.add_known("groupid", client.gid);
  labels.add(client.origin);
  return labels.str();
}

}  // namespace pcp::trace::agent
