// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/instance_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "base/descriptor.hpp"
#include "base/escape.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::string_view kFormat = "pcp-trace-instances 1";
constexpr std::string_view kReserved = "reserved ";
constexpr std::string_view kEnd = "end";

// Larger than any file that an agent has written.
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 30;

Error system_error() { return {std::strerror(errno)}; }

// Gives everything in a file.
Result<std::string> read_file(const std::string& path) {
  // O_NONBLOCK: a pipe in place of the file must not block the agent's start.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return system_error();
  if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) > kMaxFileBytes)
    return Error{"not a file of instance numbers"};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

Result<void> write_file(const std::string& path, std::string_view text) {
  Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file) return system_error();
  if (const int error = write_all(file.get(), text); error != 0) return Error{std::strerror(error)};
  if (::fsync(file.get()) != 0 || !file.close()) return system_error();
  return {};
}

// Makes a rename in the file's directory durable. Some file systems cannot sync a directory; the
// rename is done anyway.
void sync_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == path.npos ? "." : path.substr(0, slash + 1);
  const Descriptor file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file) ::fsync(file.get());
}

// Takes the number at the front of `text` and the blank after it.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || next == end || *next != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(next - text.data()) + 1);
  return true;
}

std::optional<std::string> parse_tag(std::string_view text) {
  std::string tag;
  while (!text.empty()) {
    std::size_t length = 1;
    unsigned char byte = static_cast<unsigned char>(text.front());
    if (byte == '\\') {
      length = 4;
      const char* digits = text.data() + 2;
      if (text.size() < length || text[1] != 'x') return std::nullopt;
      if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
    } else if (byte <= ' ' || byte >= 0x7f) {
      return std::nullopt;
    }
    tag += static_cast<char>(byte);
    text.remove_prefix(length);
  }
  if (!is_tag(tag)) return std::nullopt;
  return tag;
}

std::optional<KnownInstance> parse_line(std::string_view line) {
  KnownInstance known;
  unsigned type = 0;
  if (!take_number(line, type) || !is_trace_type(type)) return std::nullopt;
  if (!take_number(line, known.instance) || !take_number(line, known.absent)) return std::nullopt;
  if (known.instance < 1 || known.instance > InstanceFile::kMaxNumber) return std::nullopt;
  auto tag = parse_tag(line);
  if (!tag) return std::nullopt;
  known.type = static_cast<TraceType>(type);
  known.tag = std::move(*tag);
  return known;
}

// Nothing if the line has another subject, or is damaged.
std::optional<Numbers> parse_reserved(std::string_view line) {
  if (!line.starts_with(kReserved)) return std::nullopt;
  std::string rest(line.substr(kReserved.size()));
  rest += ' ';
  std::string_view view = rest;
  Numbers numbers{};
  for (std::int32_t& number : numbers) {
    if (!take_number(view, number) || number < 0 || number > InstanceFile::kMaxNumber)
      return std::nullopt;
  }
  if (!view.empty()) return std::nullopt;
  return numbers;
}

// Takes the next line; nothing if the last line has no newline.
std::optional<std::string_view> take_line(std::string_view& text) {
  const std::size_t length = text.find('\n');
  if (length == text.npos) return std::nullopt;
  const std::string_view line = text.substr(0, length);
  text.remove_prefix(length + 1);
  return line;
}

}  // namespace

InstanceFile::Contents InstanceFile::load() const {
  Contents contents;
  const auto text = read_file(path_);
  if (!text) {
    contents.warning = path_ + ": " + text.error().message + "; instances are numbered afresh";
    return contents;
  }
  std::string_view rest = *text;
  if (take_line(rest) != kFormat) {
    contents.warning = path_ + ": the first line is not \"" + std::string(kFormat) +
                       "\"; instances are numbered afresh";
    return contents;
  }
  std::set<std::pair<TraceType, std::int32_t>> numbers;
  std::set<std::pair<TraceType, std::string>> tags;
  std::size_t damaged = 0;
  bool complete = false;
  while (const auto line = take_line(rest)) {
    if (*line == kEnd) {
      complete = true;
      break;
    }
    if (const auto reserved = parse_reserved(*line)) {
      contents.reserved = *reserved;
      continue;
    }
    auto known = parse_line(*line);
    if (!known || numbers.contains({known->type, known->instance}) ||
        !tags.insert({known->type, known->tag}).second) {
      ++damaged;
      continue;
    }
    numbers.insert({known->type, known->instance});
    contents.instances.push_back(std::move(*known));
  }
  if (!complete || !rest.empty()) ++damaged;
  if (damaged > 0) {
    contents.warning = path_ + ": damaged (" + std::to_string(damaged) + " lines are unusable, " +
                       std::to_string(contents.instances.size()) +
                       " numbers could be read); other tags are numbered afresh";
  }
  return contents;
}

Result<void> InstanceFile::save(const std::vector<KnownInstance>& instances,
                                const Numbers& reserved) const {
  std::string text(kFormat);
  text += "\nreserved";
  for (const std::int32_t number : reserved) text += ' ' + std::to_string(number);
  text += '\n';
  for (const KnownInstance& known : instances) {
    text += std::to_string(static_cast<unsigned>(known.type)) + ' ' +
            std::to_string(known.instance) + ' ' + std::to_string(known.absent) + ' ' +
            escaped(known.tag, stays_in_file) + '\n';
  }
  text += kEnd;
  text += '\n';

  const std::string temporary = path_ + ".new";
  Result<void> saved = write_file(temporary, text);
  if (saved && std::rename(temporary.c_str(), path_.c_str()) != 0) saved = system_error();
  if (!saved) {
    ::unlink(temporary.c_str());
    return Error{path_ + ": cannot save the instance numbers: " + saved.error().message};
  }
  sync_directory_of(path_);
  return {};
}

}  // namespace pcp::trace::agent
