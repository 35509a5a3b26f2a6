// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/agent_options.hpp"

#include <cstdlib>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "support/command_line.hpp"
#include "support/error_of.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    unsetenv("PCP_TRACE_PORT");
    setenv("PCP_RUN_DIR", "/run/of/pcp", 1);
  }

  CommandLine parse(const std::vector<std::string>& words) {
    return parse_words(parse_options, words);
  }

  AgentOptions good(const std::vector<std::string>& words) {
    CommandLine line = parse(words);
    EXPECT_EQ(error_of(line.status), "");
    return std::move(line.options);
  }

  std::string error(const std::vector<std::string>& words) { return error_of(parse(words).status); }
};

TEST_F(OptionsTest, HaveDefaults) {
  const AgentOptions options = good({});
  EXPECT_EQ(std::tie(options.domain, options.port), std::tuple(10, 4323));
  EXPECT_EQ(std::tie(options.log, options.user, options.socket_path),
            std::tuple("trace.log", "", "/run/of/pcp/trace.socket"));
  const EngineOptions& engine = options.engine;
  EXPECT_EQ(engine.period, 60s);
  EXPECT_EQ(std::tie(engine.buckets, engine.max_tags, engine.max_cumulative_bytes),
            std::tuple(12u, 100'000u, 64u << 20));
  EXPECT_TRUE(options.split.empty());
  EXPECT_EQ(options.span_bytes, 64u << 20);
  EXPECT_EQ(options.capture, "");
  EXPECT_FALSE(options.capture_remote);
  EXPECT_FALSE(options.stable_labels);
  EXPECT_FALSE(options.adopts_numbers);
}

TEST_F(OptionsTest, NameTheLabelsThatSplitTags) {
  using Keys = std::vector<std::string>;
  EXPECT_EQ(good({"--split=service,rank", "--max-tags", "7"}).split, (Keys{"rank", "service"}));
  EXPECT_EQ(good({"--split", "pid"}).split, Keys{"pid"});
  EXPECT_EQ(error({"--split", "rank,rank"}), "--split: \"rank\" is given twice");
  for (const char* bad : {"", "rank,", "Rank", "hostname", "tag", "_x", "a b"})
    EXPECT_TRUE(error({"--split", bad}).starts_with("--split: \"")) << bad;
}

TEST_F(OptionsTest, AreTakenFromTheCommandLine) {
  const AgentOptions options =
      good({"-d11", "-lsome.log", "-Mroot", "-I", "4444", "-i", "/tmp/s", "-T", "30 seconds", "-N6",
            "--max-tags=5", "--histogram-memory=3", "-U", "1,0,0,1,0,0", "-V", "0,1,0,0,3,0",
            "--stable-labels"});
  EXPECT_TRUE(options.stable_labels);
  EXPECT_FALSE(options.capture_remote);
  EXPECT_EQ(std::tie(options.domain, options.port), std::tuple(11, 4444));
  EXPECT_EQ(std::tie(options.log, options.user, options.socket_path),
            std::tuple("some.log", "root", "/tmp/s"));
  const EngineOptions& engine = options.engine;
  EXPECT_EQ(engine.period, 30s);
  EXPECT_EQ(std::tie(engine.buckets, engine.max_tags, engine.max_cumulative_bytes),
            std::tuple(6u, 5u, 3u << 20));
  EXPECT_EQ(options.units.observation.dimSpace, 1);
  EXPECT_EQ(options.units.counter.dimTime, 1);
}

TEST_F(OptionsTest, SayWhatIsCaptured) {
  const AgentOptions options =
      good({"--span-memory", "5", "--capture", "limit=7/s tag=a", "--capture-remote"});
  EXPECT_EQ(options.span_bytes, 5u << 20);
  EXPECT_EQ(options.capture, "tag=a limit=7/s");
  EXPECT_TRUE(options.capture_remote);
  EXPECT_FALSE(options.stable_labels);
}

TEST_F(OptionsTest, CollectAccessRules) {
  AgentOptions options = good({"-A", "disallow:127.0.0.1", "-A", "allow:127.0.0.2:1"});
  EXPECT_EQ(options.access.acquire("127.0.0.1").access, Access::NotPermitted);
  EXPECT_EQ(options.access.acquire("127.0.0.2").access, Access::Allowed);
  EXPECT_EQ(options.access.acquire("127.0.0.2").access, Access::TooManyConnections);
}

TEST_F(OptionsTest, TakeThePortFromTheEnvironmentUnlessItIsGiven) {
  setenv("PCP_TRACE_PORT", "5555", 1);
  EXPECT_EQ(good({}).port, 5555);
  EXPECT_EQ(good({"-I", "6666"}).port, 6666);
  setenv("PCP_TRACE_PORT", "many", 1);
  EXPECT_NE(error({}).find("PCP_TRACE_PORT: \"many\""), std::string::npos);
}

TEST_F(OptionsTest, NameTheArgumentThatIsWrong) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"-A", {"permit:foo"}},
      {"-D", {"no-such-option"}},
      {"-d", {"0", "511"}},
      {"-I", {"0", "70000", "-1", "no-such-service"}},
      {"-M", {"no-such-user"}},
      {"-N", {"0", "-1", "1001"}},
      {"-T", {"0", "soon"}},
      {"-U", {"1,2", "0,0,0,0,0,0,0"}},
      {"-V", {"9,0,0,0,0,0", "0,0,0,0,99,0"}},
      {"--max-tags", {"0"}},
      {"--histogram-memory", {"0", "1048577"}},
      {"--span-memory", {"0"}},
      {"--capture", {"tga=a"}}};
  for (const auto& [option, arguments] : cases)
    for (const char* const argument : arguments) {
      const std::string message = error({option, argument});
      EXPECT_EQ(message.find(option), 0) << message;
      EXPECT_NE(message.find(argument), message.npos) << message;
      EXPECT_EQ(message.find('\n'), message.npos) << message;
    }
}

TEST_F(OptionsTest, RefuseASocketPathThatNoSystemTakesAndStepsBelowAMillisecond) {
  EXPECT_NE(error({"-i", "/" + std::string(200, 'x')}).find("107"), std::string::npos);
  for (const char* none : {"", "none"}) EXPECT_EQ(good({"-i", none}).socket_path, "");
  EXPECT_NE(error({"-T", "1 msec"}).find("-T, -N"), std::string::npos);
  EXPECT_EQ(good({"-T", "12 msec"}).engine.period, 12ms);
}

TEST_F(OptionsTest, RefuseWhatIsNoOption) {
  EXPECT_NE(error({"something"}).find("\"something\""), std::string::npos);
  for (const std::string option : {"-Z", "-?", "--no-such-option"})
    EXPECT_EQ(error({option}), option + ": is not an option");
  for (const std::string option : {"-T", "--max-tags", "--split"})
    EXPECT_EQ(error({option}), option + ": needs an argument");
}

TEST_F(OptionsTest, KnowTheLogOfAnErrorThatComesBeforeIt) {
  const CommandLine line = parse({"-N", "0", "-Z", "-T", "0", "-l", "some.log"});
  EXPECT_EQ(line.options.log, "some.log");
  EXPECT_EQ(error_of(line.status).find("-N: "), 0) << error_of(line.status);
}

TEST_F(OptionsTest, TellWhenHelpOrTheVersionIsWanted) {
  using enum CommandLine::Wanted;
  EXPECT_EQ(parse({"--help"}).wanted, Help);
  EXPECT_EQ(parse({"-h", "--version"}).wanted, Help);
  EXPECT_EQ(parse({"--version"}).wanted, Version);
  EXPECT_EQ(parse({}).wanted, Agent);
}

}  // namespace
}  // namespace pcp::trace::agent
