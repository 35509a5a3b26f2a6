// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/log.hpp"

#include <syslog.h>

#include "base/mutex.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

namespace {

// libpcp does not allow two threads to log at once, and writes a line in several pieces.
void log_line(int priority, const std::string& line) {
  static Mutex mutex;
  const Lock lock(mutex);
  pmNotifyErr(priority, "%s", line.c_str());
}

}  // namespace

void log_info(const std::string& line) { log_line(LOG_INFO, line); }
void log_warning(const std::string& line) { log_line(LOG_WARNING, line); }
void log_error(const std::string& line) { log_line(LOG_ERR, line); }

}  // namespace pcp::trace::agent
