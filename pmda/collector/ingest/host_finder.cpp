// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/host_finder.hpp"

#include <pthread.h>

#include <new>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"

namespace pcp::trace::agent {

struct HostFinder::State {
  std::vector<AccessList::Waiting> names;  // used by the thread only
  LookUp look_up;
  std::chrono::milliseconds pause;
  Found found;

  Mutex mutex;  // held during found(), so that stop() excludes later calls
  ConditionVariable changed;
  bool stopped TRACE_GUARDED_BY(mutex) = false;
};

void HostFinder::start(std::vector<AccessList::Waiting> names, LookUp look_up,
                       std::chrono::milliseconds pause, Found found) {
  if (names.empty()) return;
  state_ = std::make_shared<State>();
  state_->names = std::move(names);
  state_->look_up = look_up;
  state_->pause = pause;
  state_->found = std::move(found);
  std::thread([state = state_] { run(*state); }).detach();
}

void HostFinder::stop() {
  if (!state_) return;
  {
    const Lock lock(state_->mutex);
    state_->stopped = true;
  }
  state_->changed.notify_all();
  state_.reset();
}

void HostFinder::run(State& state) {
  pthread_setname_np(pthread_self(), "names");
  while (!state.names.empty() && rest(state)) {
    std::erase_if(state.names,
                  [&](const AccessList::Waiting& name) { return try_one(state, name); });
  }
}

// False after stop().
bool HostFinder::rest(State& state) {
  const std::chrono::steady_clock::time_point until(steady_now() + state.pause);
  const Lock lock(state.mutex);
  while (!state.stopped && state.changed.wait_until(state.mutex, until)) continue;
  return !state.stopped;
}

bool HostFinder::try_one(State& state, const AccessList::Waiting& name) {
  try {
    const Result<HostPatterns> addresses = state.look_up(name.name);
    const Lock lock(state.mutex);
    if (addresses && !state.stopped) state.found(name, *addresses);
    return bool(addresses);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace pcp::trace::agent
