// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures a monitor's waiting time: fetches groups of metrics in turn on one connection to pmcd,
// and prints a line of times for each round.
//
//   fetch_times HOST ROUNDS SECONDS GROUP...
//
// A group is a node of the name space, whose metrics are fetched in one request, or several nodes
// with commas between; or "indom:" and a metric, for the names of that metric's instances. The
// program ends after ROUNDS or SECONDS, whichever comes first. The first line has the times of a
// first round, with cold caches. Times are in microseconds.
#include <pcp/pmapi.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

int checked(int status, const std::string& what) {
  if (status >= 0) return status;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), pmErrStr(status));
  std::exit(EXIT_FAILURE);
}

pmID look_up(const std::string& name) {
  const char* names[] = {name.c_str()};
  pmID pmid = PM_ID_NULL;
  checked(pmLookupName(1, names, &pmid), name);
  return pmid;
}

std::vector<pmID> metrics_below(const std::string& nodes) {
  std::vector<pmID> pmids;
  std::istringstream list(nodes);
  for (std::string node; std::getline(list, node, ',');) {
    checked(pmTraversePMNS_r(
                node.c_str(),
                [](const char* name, void* found) {
                  static_cast<std::vector<pmID>*>(found)->push_back(look_up(name));
                },
                &pmids),
            node);
  }
  return pmids;
}

// One thing to ask pmcd for.
class Group {
 public:
  explicit Group(std::string text) {
    constexpr std::string_view kIndom = "indom:";
    if (!text.starts_with(kIndom)) {
      pmids_ = metrics_below(text);
      return;
    }
    text.erase(0, kIndom.size());
    pmDesc description;
    checked(pmLookupDesc(look_up(text), &description), text);
    indom_ = description.indom;
  }

  void ask() {
    if (pmids_.empty()) {
      ask_for_instances();
    } else {
      fetch();
    }
  }

 private:
  void fetch() {
    pmResult* result = nullptr;
    checked(pmFetch(static_cast<int>(pmids_.size()), pmids_.data(), &result), "fetch");
    for (int i = 0; i < result->numpmid; ++i) {
      checked(result->vset[i]->numval, pmIDStr(result->vset[i]->pmid));
    }
    pmFreeResult(result);
  }

  void ask_for_instances() {
    int* numbers = nullptr;
    char** names = nullptr;
    if (checked(pmGetInDom(indom_, &numbers, &names), "instances") == 0) return;
    std::free(numbers);
    std::free(names);
  }

  std::vector<pmID> pmids_;
  pmInDom indom_ = PM_INDOM_NULL;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs("usage: fetch_times HOST ROUNDS SECONDS GROUP...\n", stderr);
    return EXIT_FAILURE;
  }
  checked(pmNewContext(PM_CONTEXT_HOST, argv[1]), argv[1]);
  const int rounds = std::atoi(argv[2]);
  const auto end = Clock::now() + std::chrono::duration<double>(std::atof(argv[3]));
  std::vector<Group> groups(argv + 4, argv + argc);
  for (int round = 0; round <= rounds && (round <= 1 || Clock::now() < end); ++round) {
    for (Group& group : groups) {
      const auto begin = Clock::now();
      group.ask();
      std::printf("%.1f ", Microseconds(Clock::now() - begin).count());
    }
    std::printf("\n");
  }
  return EXIT_SUCCESS;
}
