// SPDX-License-Identifier: LGPL-2.1-or-later
// The only thread leaves by pthread_exit: its thread_local objects are destroyed and its handlers
// run to their end, as without the library.
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

int main() {
  std::atexit(trace_slowly);
  noticed.word = "destroyed\n";
  pmtracepoint("main");
  ::pthread_exit(nullptr);
}
