// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/open_transactions.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "command/pcp/pcp_host.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/show/json_writer.hpp"
#include "command/show/text_table.hpp"

namespace pcp::trace::command {

namespace {

constexpr const char* kInFlight = "trace.transact.inflight";

Result<std::vector<OpenTransaction>> ask(const std::string& name) {
  PcpHost host(name);
  if (const Result<void> connected = host.connect(); !connected) return connected.error();
  if (const Result<void> found = host.find_agent(); !found) return found.error();
  if (lookup(kInFlight) == PM_ID_NULL)
    return Error{"its trace agent has no trace.transact.inflight"};
  return open_transactions_of(host.host_name());
}

}  // namespace

std::vector<OpenTransaction> open_transactions_of(const std::string& host) {
  std::vector<OpenTransaction> open;
  Instances tags = instances_of(kInFlight);
  auto oldest = read_numbers_of("trace.transact.oldest");
  auto where = read_texts_of("trace.transact.oldest_where");
  for (const auto& [number, count] : read_numbers_of(kInFlight))
    if (count > 0) open.push_back({host, tags[number], count, oldest[number], where[number]});
  return open;
}

OpenTransactions read_open_transactions(const std::vector<std::string>& hosts,
                                        const wire::CaptureFilter& filter,
                                        Interruption& interruption) {
  OpenTransactions open;
  for (const std::string& host : hosts) {
    auto answer = interruption.result_of([host] { return ask(host); });
    if (!answer)
      open.troubles.push_back(shown_host(host) + ": its pmcd does not answer");
    else if (!*answer)
      open.troubles.push_back(shown_host(host) + ": " + answer->error().message);
    else
      for (OpenTransaction& each : **answer) {
        if (matches_tag(filter, each.tag))
          open.tags.push_back(std::move(each));
        else
          open.others += each.count;
      }
  }
  std::ranges::stable_sort(open.tags, std::greater(), &OpenTransaction::oldest_s);
  return open;
}

std::string open_table(const OpenTransactions& open, const Shown& shown) {
  if (open.tags.empty() && open.others > 0)
    return "No open transaction matches; other tags have " + Shown::count(open.others) + ".\n";
  if (open.tags.empty()) return open.troubles.empty() ? "Nothing is open.\n" : "";
  constexpr int kLeastName = 20;
  constexpr int kWhere = 18;
  constexpr int kHost = 18;
  const bool has_hosts = std::ranges::any_of(
      open.tags, [&](const auto& each) { return each.host != open.tags.front().host; });
  const TextTable table({{9}, {10}, {kWhere, 1, true}, {has_hosts ? kHost : 0, 2, true}},
                        kLeastName, shown);
  const auto line = [&](const std::string& name, const std::array<std::string, 4>& cells) {
    return table.line(name, [&](std::size_t i) { return cells[i]; });
  };
  std::string text =
      shown.bold(line("Open transactions", {"number", "oldest", "  process/thread", "  host"})) +
      "\n";
  for (const OpenTransaction& each : open.tags)
    text +=
        line(shown.name(each.tag, table.name_width() - 1),
             {Shown::count(each.count), shown.duration(each.oldest_s),
              "  " + shown.name(each.where, kWhere - 3), "  " + shown.name(each.host, kHost - 2)}) +
        "\n";
  return text;
}

std::string open_json(const OpenTransactions& open) {
  std::string lines;
  for (const OpenTransaction& each : open.tags) {
    JsonWriter json;
    json.object([&] {
      json.text("host", each.host);
      json.text("tag", each.tag);
      json.number("count", each.count);
      json.number("oldest_s", each.oldest_s);
      json.text("where", each.where);
    });
    lines += json.document() + "\n";
  }
  return lines;
}

}  // namespace pcp::trace::command
