// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the tags of several hosts regularly, or of an archive at its pace. Each reading has its own
// thread, because PCP's library may wait long for a silent host. The threads are never joined, so
// they share ownership of what they use.
//
// Thread: the main one.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "command/top/recent_tags.hpp"

namespace pcp::trace::command {

class TagFeed {
 public:
  // `interval`: between two readings; nothing: as an archive was recorded. `archive`: null if there
  // are hosts.
  TagFeed(const std::vector<std::string>& hosts, std::optional<Duration> interval,
          std::unique_ptr<SampleSource> archive);

  // take() is to be called when this is readable, and at this time.
  int descriptor() const { return bell_->get(); }
  Instant due() const { return due_; }

  // Gives the tags once all hosts that answer have been read anew. Only then are they read again,
  // so no calls are lost. During a pause gives none, and reads none.
  std::optional<Recent> take(bool is_paused = false);

  // Sets the tag that details are of.
  void open(const std::optional<TagKey>& tag) { opened_ = tag; }
  const std::optional<TagKey>& opened() const { return opened_; }
  std::vector<TagDetail> details() const;

  // A sentence for each host that gives no values now.
  std::vector<std::string> troubles() const;

  // True if all that can come has been taken: the archive is at its end, or no host has ever given
  // values, and each has said why.
  bool is_over() const;

 private:
  struct Host {
    std::shared_ptr<RecentTags> tags;
    std::string name;                // as shown
    TagReading last{};               // without tags that have been taken
    std::future<TagReading> next{};  // valid while a thread works
    Instant asked = steady_now();    // or, without a thread, to be asked
    bool has_worked = false;
  };

  void ask(Host& host);
  void note(Host& host);
  std::optional<Recent> sum();
  const Host* same_as(const Host& host) const;
  std::string trouble_of(const Host& host) const;

  const std::optional<Duration> interval_;
  const std::shared_ptr<const Descriptor> bell_;
  std::vector<Host> hosts_;
  std::optional<TagKey> opened_;
  Instant due_{};
};

}  // namespace pcp::trace::command
