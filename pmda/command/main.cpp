// SPDX-License-Identifier: LGPL-2.1-or-later
// pcp-trace, also run as `pcp trace`: the first word selects the command.
#include <unistd.h>

#include <array>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "base/escape.hpp"
#include "command/words.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

namespace {

struct Word {
  const char* name;
  int (*run)(int argc, char* const* argv);
};

constexpr std::array kWords{Word{"record", record}, Word{"report", report}, Word{"top", top},
                            Word{"spans", spans}, Word{"export", export_spans}};

constexpr const char* kUsage =
    R"(Usage: pcp-trace WORD [ARGUMENT...]

Shows where the time of traced programs goes.

  record   run a program, or watch a host, and keep what is traced
  report   show what was recorded: a summary here, and a page to look at
  top      show what programs do now: calls, rates and times, the busiest first
  spans    show single transactions as they happen, through processes and hosts
  export   write them into a file for the viewers of others, or send them and all
           metrics to a server of OpenTelemetry

  pcp-trace WORD --help    what a word can do
  pcp-trace --version

Begin with: pcp-trace record ./your-program
See pcp-trace(1).
)";

constexpr int kWrongUsage = 2;

int run(const Word& word, int argc, char* const* argv) try {
  return word.run(argc, argv);
} catch (const std::exception& problem) {  // no descriptors, processes or memory left
  constexpr int kRecordFailed = 125;
  complain(word.name, problem.what());
  return std::string_view(word.name) == "record" ? kRecordFailed : kWrongUsage;
}

int start(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  pmSetProgname("pcp-trace");
  const std::string_view word = argc > 1 ? argv[1] : "";
  // write() reports a file's size limit. `record` does this where its program does not inherit it.
  if (word != "record") std::signal(SIGXFSZ, SIG_IGN);
  for (const Word& each : kWords)
    if (word == each.name) return run(each, argc - 1, argv + 1);
  if (word == "--help" || word == "-?" || word == "help") {
    std::cout << kUsage;
    return EXIT_SUCCESS;
  }
  if (word == "--version" || word == "-V") {
    std::cout << "pcp-trace " PCP_TRACE_VERSION << std::endl;
    return EXIT_SUCCESS;
  }
  if (argc == 1 && ::isatty(STDOUT_FILENO) != 0) {
    std::cout << overview();
    return EXIT_SUCCESS;
  }
  const std::string shown = printable(word, kMaxShownBytes);
  if (word.empty())
    std::cerr << kUsage;
  else
    std::cerr << "pcp-trace: unknown command \"" << shown
              << "\". To record a program: pcp-trace record " << shown
              << "; all commands: pcp-trace --help" << std::endl;
  return kWrongUsage;
}

}  // namespace

}  // namespace pcp::trace::command

int main(int argc, char** argv) { return pcp::trace::command::start(argc, argv); }
