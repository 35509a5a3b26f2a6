// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/client_options.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

struct Reading {
  ClientOptions options;
  std::vector<std::string> complaints;
};

Reading read(const std::map<std::string, std::string>& variables) {
  Reading reading;
  reading.options = read_environment(
      [&](const char* name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      [&](const std::string& complaint) { reading.complaints.push_back(complaint); });
  return reading;
}

TEST(ClientOptions, HaveTheDocumentedDefaults) {
  const auto [options, complaints] = read({{"PCP_RUN_DIR", "/somewhere"}});
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(options.socket_path, "/somewhere/trace.socket");
  EXPECT_FALSE(options.socket_only);
  EXPECT_FALSE(options.tcp_only);
  EXPECT_EQ(options.host, "");
  EXPECT_EQ(options.port, 4323);
  EXPECT_EQ(options.connect_timeout, 3s);
  EXPECT_EQ(options.request_timeout, 10s);
  EXPECT_EQ(options.reconnect_delays,
            (std::vector<std::chrono::nanoseconds>{5s, 10s, 20s, 40s, 80s}));
  EXPECT_FALSE(options.no_agent);
  EXPECT_EQ(options.flush_interval, 100ms);
  EXPECT_EQ(options.queue_capacity, 4096u);
  EXPECT_EQ(options.hold_bytes, 4u << 20);
  EXPECT_EQ(options.service, program_invocation_short_name);
  EXPECT_TRUE(options.labels.empty());
}

TEST(ClientOptions, TakeWhatIsSet) {
  const auto [options, complaints] = read({{"PCP_TRACE_HOST", "db.example"},
                                           {"PCP_TRACE_PORT", "9999"},
                                           {"PCP_TRACE_TIMEOUT", "0.5"},
                                           {"PCP_TRACE_REQTIMEOUT", "1e1"},
                                           {"PCP_TRACE_RECONNECT", "1,2.5"},
                                           {"PCP_TRACE_NOAGENT", ""},
                                           {"PCP_TRACE_IDS", "always"},
                                           {"PCP_TRACE_CAPTURE", "slower=1ms tag=a"},
                                           {"TRACEPARENT",
                                            "00-00000000000000010000000000000002-"
                                            "0000000000000003-00"},
                                           {"PCP_TRACE_FLUSH", "20"},
                                           {"PCP_TRACE_LINGER", "2.5"},
                                           {"PCP_TRACE_QUEUE", "16"},
                                           {"PCP_TRACE_HOLD", "65536"},
                                           {"PCP_TRACE_SERVICE", "shop"},
                                           {"PCP_TRACE_LABELS", "tier=web,region=eu=west"}});
  EXPECT_TRUE(complaints.empty());
  EXPECT_TRUE(options.always_ids);
  EXPECT_EQ(options.capture, "tag=a slower=1ms limit=1000/s");
  EXPECT_EQ(options.traceparent, "00-00000000000000010000000000000002-0000000000000003-00");
  EXPECT_EQ(options.host, "db.example");
  EXPECT_EQ(options.port, 9999);
  EXPECT_TRUE(options.tcp_only);
  EXPECT_EQ(options.connect_timeout, 500ms);
  EXPECT_EQ(options.request_timeout, 10s);
  EXPECT_EQ(options.reconnect_delays, (std::vector<std::chrono::nanoseconds>{1s, 2500ms}));
  EXPECT_TRUE(options.no_agent);
  EXPECT_EQ(options.flush_interval, 20ms);
  EXPECT_EQ(options.last_patience, 2500ms);
  EXPECT_EQ(options.queue_capacity, 16u);
  EXPECT_EQ(options.hold_bytes, 65'536u);
  EXPECT_EQ(options.service, "shop");
  EXPECT_EQ(options.labels, (decltype(options.labels){{"tier", "web"}, {"region", "eu=west"}}));
}

TEST(ClientOptions, DebugWordsAreTheStateFlags) {
  const std::map<std::string, int> words = {{"api", PMTRACE_STATE_API},
                                            {"comms", PMTRACE_STATE_COMMS},
                                            {"pdu", PMTRACE_STATE_PDU},
                                            {"pdubuf", PMTRACE_STATE_PDUBUF},
                                            {"all", 15},
                                            {"pdu,api", 5},
                                            {"comms,loud", 2},
                                            {"file=/x/%p,api", 1}};
  for (const auto& [text, flags] : words)
    EXPECT_EQ(read({{"PCP_TRACE_DEBUG", text}}).options.demanded_state(), flags) << text;
  EXPECT_EQ(read({{"PCP_TRACE_DEBUG", "api"}, {"PCP_TRACE_NOAGENT", ""}}).options.demanded_state(),
            PMTRACE_STATE_API | PMTRACE_STATE_NOAGENT);
}

TEST(ClientOptions, ADebugFileIsThereWhereverTheProgramGoes) {
  const auto file = [](const char* words) {
    return read({{"PCP_TRACE_DEBUG", words}}).options.debug_file;
  };
  EXPECT_EQ(file("file=/x/%p,api"), "/x/%p");
  EXPECT_EQ(file("api,file=x"), std::filesystem::current_path().string() + "/x");
}

TEST(ClientOptions, ASocketPathIsMeantAlone) {
  const auto [options, complaints] = read({{"PCP_TRACE_SOCKET", "/tmp/x.sock"}});
  EXPECT_TRUE(complaints.empty());
  EXPECT_TRUE(options.socket_only);
  EXPECT_EQ(options.socket_path, "/tmp/x.sock");
}

TEST(ClientOptions, TakeTheRunDirectoryFromPcpsConfigurationIfTheEnvironmentHasNone) {
  const std::string path = testing::TempDir() + "pcp.conf." + std::to_string(::getpid());
  std::ofstream(path) << "# comment\nPCP_LOG_DIR=/l\nPCP_RUN_DIR=/from/conf\n";
  EXPECT_EQ(read({{"PCP_CONF", path}}).options.socket_path, "/from/conf/trace.socket");
  EXPECT_EQ(read({{"PCP_CONF", path}, {"PCP_RUN_DIR", "/env"}}).options.socket_path,
            "/env/trace.socket");
  std::remove(path.c_str());
  EXPECT_EQ(read({{"PCP_CONF", path}}).options.socket_path, "/run/pcp/trace.socket");
}

TEST(ClientOptions, KnowNoSocketInARunDirectoryWhosePathIsTooLongForOne) {
  EXPECT_EQ(read({{"PCP_RUN_DIR", '/' + std::string(93, 'd')}}).options.socket_path.size(), 107u);
  EXPECT_EQ(read({{"PCP_RUN_DIR", '/' + std::string(94, 'd')}}).options.socket_path, "");
}

// PCP would refuse all labels if the library let a single bad one through.
TEST(ClientOptions, LeaveOutLabelsThatPcpWouldRefuseAndNoOthers) {
  const std::string longest(254, 'x');
  const auto [options, complaints] =
      read({{"PCP_TRACE_LABELS", "zone=eu,k8s.pod=x,hostname=other," + longest + "=1," + longest +
                                     "x=1,tag=mine,_=1,,Zone=eu,tier=a=b"}});
  EXPECT_EQ(options.labels,
            (decltype(options.labels){{"zone", "eu"}, {longest, "1"}, {"tier", "a=b"}}));
  ASSERT_EQ(complaints.size(), 7u);
  EXPECT_EQ(complaints[0],
            "PCP_TRACE_LABELS=\"k8s.pod=x\" ignored: expected name=value with a name of a "
            "small letter, then small letters, digits and '_', not reserved by PCP");
  EXPECT_NE(complaints[1].find("\"hostname=other\""), std::string::npos);
}

using Labels = decltype(ClientOptions::labels);

TEST(ClientOptions, TakeTheRankFromWhateverHasStartedTheJob) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                           "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID"})
    EXPECT_EQ(read({{name, "12"}}).options.labels, (Labels{{"rank", "12"}})) << name;
  EXPECT_EQ(read({{"PMI_RANK", "3"}, {"SLURM_PROCID", "0"}, {"PCP_TRACE_LABELS", "zone=eu"}})
                .options.labels,
            (Labels{{"zone", "eu"}, {"rank", "3"}}));
  EXPECT_EQ(read({{"PMI_RANK", "3"}, {"PCP_TRACE_LABELS", "rank=own"}}).options.labels,
            (Labels{{"rank", "own"}}));
}

TEST(ClientOptions, TakeNoRankThatIsNoNumberAndAreSilentAboutIt) {
  for (const char* rank : {"", "-1", "0x1", "1 ", "99999999999"}) {
    const auto [options, complaints] = read({{"PMI_RANK", rank}});
    EXPECT_TRUE(options.labels.empty()) << rank;
    EXPECT_TRUE(complaints.empty()) << rank;
  }
}

std::size_t bytes_of(const ClientOptions& options) {
  std::size_t bytes = options.process.size() + options.service.size();
  for (const auto& [name, value] : options.labels) bytes += name.size() + value.size();
  return bytes;
}

constexpr std::size_t kMaxBytesOfAgent = 16 * 1024;

TEST(ClientOptions, CutAServiceThatIsTooLongBetweenTwoCharacters) {
  const std::string longest(1024, 's');
  EXPECT_TRUE(read({{"PCP_TRACE_SERVICE", longest}}).complaints.empty());
  const auto [options, complaints] = read({{"PCP_TRACE_SERVICE", std::string(1022, 's') + "€uro"}});
  EXPECT_EQ(options.service, std::string(1022, 's'));
  EXPECT_EQ(complaints, std::vector<std::string>{"PCP_TRACE_SERVICE is cut after 1024 bytes"});
  const std::string no_text(5000, '\x80');
  EXPECT_EQ(read({{"PCP_TRACE_SERVICE", no_text}}).options.service, no_text.substr(0, 1024));
}

TEST(ClientOptions, LeaveOutLabelsThatAnAgentWouldNotTake) {
  const std::string huge(13'000, 'h');
  const std::string large(10'000, 'l');
  const auto [options, complaints] =
      read({{"PCP_TRACE_LABELS", "a=1,b=" + huge + ",c=" + large + ",d=" + large + ",e=2"}});
  EXPECT_EQ(options.labels, (decltype(options.labels){{"a", "1"}, {"c", large}, {"e", "2"}}));
  EXPECT_EQ(complaints, std::vector<std::string>{"PCP_TRACE_LABELS is too long: labels beyond "
                                                 "12288 bytes are left out"});
}

TEST(ClientOptions, FitAnAgentHoweverManyLabelsThereAre) {
  std::string labels = "x=";
  for (int i = 0; i < 50'000; ++i) labels += ",x=";
  EXPECT_LT(read({{"PCP_TRACE_LABELS", labels}}).options.labels.size(), 2000u);
  labels = "x=1";
  for (int i = 0; i < 500; ++i) labels += ",x=" + std::string(100, 'v');
  const auto [options, complaints] =
      read({{"PCP_TRACE_SERVICE", std::string(100'000, 's')}, {"PCP_TRACE_LABELS", labels}});
  EXPECT_LE(bytes_of(options), kMaxBytesOfAgent);
  EXPECT_EQ(complaints.size(), 2u);
}

TEST(ClientOptions, CutTheNameOfTheProgram) {
  std::string name(20'000, 'n');
  char* const before = std::exchange(program_invocation_short_name, name.data());
  const auto [options, complaints] = read({});
  program_invocation_short_name = before;
  EXPECT_EQ(options.process, name.substr(0, 1024));
  EXPECT_EQ(options.service, options.process);
  EXPECT_EQ(complaints, std::vector<std::string>{"the program's name is cut after 1024 bytes"});
}

auto settings_of(const ClientOptions& options) {
  return std::tuple(options.port, options.connect_timeout, options.request_timeout,
                    options.reconnect_delays, options.flush_interval, options.queue_capacity,
                    options.service, options.labels, options.socket_path, options.tcp_only,
                    options.demanded_state(), options.always_ids, options.debug_file,
                    options.socket_only, options.hold_bytes);
}

TEST(ClientOptions, NameAMalformedVariableOnceAndUseTheDefault) {
  const std::map<std::string, std::vector<std::string>> malformed{
      {"PCP_TRACE_PORT", {"0", "65536", "http", "12x", "", "-1"}},
      {"PCP_TRACE_HOST", {""}},
      {"PCP_TRACE_TIMEOUT", {"soon", "0", "-3", "nan", "1e300"}},
      {"PCP_TRACE_REQTIMEOUT", {"3 s"}},
      {"PCP_TRACE_RECONNECT", {"", "5,", "5,x"}},
      {"PCP_TRACE_LINGER", {"0"}},
      {"PCP_TRACE_FLUSH", {"0", "1.5"}},
      {"PCP_TRACE_QUEUE", {"1", "1048577"}},
      {"PCP_TRACE_HOLD", {"0", "65535", "268435457", "4M"}},
      {"PCP_TRACE_MAX_LABEL_SETS", {"100001", "-1", ""}},
      {"PCP_TRACE_SERVICE", {""}},
      {"PCP_TRACE_LABELS", {"", "a", "=v", "1a=1"}},
      {"PCP_TRACE_IDS", {"never", ""}},
      {"PCP_TRACE_MMV", {"my-shop"}},
      {"PCP_TRACE_CAPTURE", {"tag", ""}},
      {"PCP_TRACE_SOCKET", {"", std::string(108, 'p')}},
      {"PCP_TRACE_DEBUG", {"", "7", "file="}}};
  for (const auto& [name, texts] : malformed)
    for (const std::string& text : texts) {
      const std::string as_set = name + "=\"" + text + '"';
      SCOPED_TRACE(as_set);
      const auto [options, complaints] = read({{name, text}});
      ASSERT_EQ(complaints.size(), 1u);
      EXPECT_NE(complaints[0].find(as_set), std::string::npos);
      EXPECT_NE(complaints[0].find("expected"), std::string::npos);
      EXPECT_EQ(settings_of(options), settings_of(read({}).options));
    }
}

}  // namespace
}  // namespace pcp::trace::client
