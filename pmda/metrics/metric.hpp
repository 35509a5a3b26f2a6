// SPDX-License-Identifier: LGPL-2.1-or-later
// The declaration of a metric: its number, name, meaning and the reader of its values, in one row.
// All data for PCP comes from here, including the files `pmns` and `help`.
#pragma once

#include "metrics/pmapi.hpp"
#include "metrics/value_reader.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

// Serial numbers of the instance domains. For trace types they equal index_of().
inline constexpr unsigned kTransactIndom = 0;
inline constexpr unsigned kPointIndom = 1;
inline constexpr unsigned kObserveIndom = 2;
inline constexpr unsigned kCounterIndom = 3;
inline constexpr unsigned kClientIndom = 4;
inline constexpr unsigned kIndomCount = 5;
inline constexpr unsigned kNoIndom = kIndomCount;  // for metrics with a single value
static_assert(kTransactIndom == index_of(TraceType::Transact));
static_assert(kPointIndom == index_of(TraceType::Point));
static_assert(kObserveIndom == index_of(TraceType::Observe));
static_assert(kCounterIndom == index_of(TraceType::Counter));

// The effect of storing into a metric.
enum class Store {
  Refused,
  Reset,
  DebugBits,
  DebugOptions,
  OwnFilter,  // of the storing monitor
  CommonFilter,
  FetchBytes,
  SpanBytes,
  IdleSeconds
};

struct Text {
  const char* line;
  const char* full;  // lines end with a newline
};

struct Metric {
  unsigned cluster;
  unsigned item;
  const char* name;
  unsigned indom;
  int semantics;
  pmUnits units;
  ValueReader read;
  Text text;
  Store store = Store::Refused;

  int type() const { return read.type(); }
};

}  // namespace pcp::trace::agent
