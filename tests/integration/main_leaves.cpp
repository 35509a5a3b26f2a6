// SPDX-License-Identifier: LGPL-2.1-or-later
// The only thread leaves by pthread_exit: its thread_local objects are destroyed and its handlers
// run to their end, as without the library. With an argument it traces when the library's thread
// has left.
#include <pcp/trace.h>
#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

void say(const char* word) {
  [[maybe_unused]] auto written = ::write(STDOUT_FILENO, word, std::strlen(word));
}

struct Noticed {
  const char* word;
  ~Noticed() { say(word); }
};
thread_local Noticed noticed{nullptr};

// Longer than the interval in which the library's thread checks whether it is the last one.
void trace_slowly() {
  pmtracepoint("handler");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // load: the time of a slow
                                                                // destructor
  say("handled\n");
}

int main(int argc, char**) {
  std::atexit(trace_slowly);
  noticed.word = "destroyed\n";
  pthread_key_t later;  // than the library's key, whose destructor lets that thread leave
  ::pthread_key_create(&later, [](void*) { pmtracepoint("key"); });
  if (argc > 1) ::pthread_setspecific(later, &later);
  pmtracepoint("main");
  ::pthread_exit(nullptr);
}
