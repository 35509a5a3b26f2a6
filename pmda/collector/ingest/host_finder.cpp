// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/host_finder.hpp"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace pcp::trace::agent {

struct HostFinder::State {
  std::vector<AccessList::Waiting> names;  // the thread's
  LookUp look_up;
  std::chrono::milliseconds pause;
  Found found;

  std::mutex mutex;  // held while found() is called, so that it is not after stop()
  std::condition_variable changed;
  bool stopped = false;  // guarded by mutex
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
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
  }
  state_->changed.notify_all();
  state_.reset();
}

void HostFinder::run(State& state) {
  pthread_setname_np(pthread_self(), "names");
  while (!state.names.empty()) {
    {
      std::unique_lock lock(state.mutex);
      if (state.changed.wait_for(lock, state.pause, [&] { return state.stopped; })) return;
    }
    std::erase_if(state.names,
                  [&](const AccessList::Waiting& name) { return try_one(state, name); });
  }
}

bool HostFinder::try_one(State& state, const AccessList::Waiting& name) {
  try {
    const Result<HostPatterns> addresses = state.look_up(name.name);
    const std::lock_guard lock(state.mutex);
    if (addresses && !state.stopped) state.found(name, *addresses);
    return bool(addresses);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace pcp::trace::agent
