// SPDX-License-Identifier: LGPL-2.1-or-later
// A host's trace agent (ours or PCP's own), which libpcp reaches through the host's pmcd. Each call
// may wait as long as PCP's time-outs.
//
// Thread: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/pcp_values.hpp"

namespace pcp::trace::command {

// A host's name for people: PCP's tools call this host "local:".
inline std::string shown_host(const std::string& name) {
  return name == "local:" ? "this host" : name;
}

// Settles the environment for PCP's library, which else writes into it while other threads read it.
// Reconnections are not delayed as long as usual. Requires: there is no other thread yet, or this
// has been called.
void settle_environment();

class PcpHost {
 public:
  // `name` has the form of PCP's tools; empty: this process, with PCP's agents as libraries, which
  // always needs the same thread. `filter` selects spans, empty: none.
  explicit PcpHost(std::string name, std::string filter = "")
      : name_(std::move(name)), filter_(std::move(filter)) {}
  ~PcpHost();
  PcpHost(const PcpHost&) = delete;
  PcpHost& operator=(const PcpHost&) = delete;

  // Connects, or reconnects after disconnect(). An error of the first connection begins with
  // `failure`.
  Result<void> connect(const std::string& failure = "cannot connect to pmcd");
  bool is_connected() const { return context_ >= 0 && !is_lost_; }
  void disconnect() { is_lost_ = true; }

  const std::string& name() const { return name_; }
  // The name that pmcd gives. Requires: connect() has succeeded once.
  const std::string& host_name() const { return host_name_; }

  // Makes this host the one that functions of PCP's library ask.
  void use() const { pmUseContext(context_); }

  // Checks that pmcd has a trace agent; the error says what is missing.
  Result<void> find_agent() const;

  Result<OwnedResult> fetch(std::vector<pmID> metrics);

  // Stores the filter: matching spans come from now on. The agent has forgotten it after a new
  // connection, or if it has restarted. An error says why it refuses.
  Result<void> ask_for_spans();
  bool must_ask_for_spans() const { return must_ask_; }

  struct Spans {
    OwnedResult result;
    std::uint32_t backlog = 0;  // more is waiting
    // Since the last fetch; spans are missing, in unknown number.
    bool has_new_agent = false;
    bool has_lapsed = false;  // fetched too late: the agent had ended the capture
    std::string wanted{};     // traces that this host's programs want whole, for want_traces()

    // One event array, or none.
    const pmValueSet& events() const { return *result->vset[0]; }
  };
  // Requires: ask_for_spans() has succeeded once.
  Result<Spans> fetch_spans();

  // Other hosts' programs want these traces whole. Gives 0, or PCP's error; -EDQUOT: too many in
  // this second. An older agent does nothing.
  int want_traces(const std::string& wanted);

  // True if labels have changed since the last call.
  bool labels_changed() { return std::exchange(labels_changed_, false); }

 private:
  const std::string name_;
  const std::string filter_;
  std::string host_name_;
  int context_ = -1;
  bool is_lost_ = false;
  bool must_ask_ = true;
  bool labels_changed_ = false;
  // Events, backlog, the agent's uptime; lapses and wanted traces, if it has them.
  std::vector<pmID> span_metrics_;
  double uptime_s_ = 0;       // when last fetched; falls when the agent restarts
  std::uint32_t lapses_ = 0;  // when last fetched
};

}  // namespace pcp::trace::command
