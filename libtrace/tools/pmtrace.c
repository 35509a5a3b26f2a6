/*
 * pmtrace: tracing from the command line and from scripts. See pmtrace(1).
 *
 * When it says "complete", the agent has counted it.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#include <errno.h>
#include <getopt.h>
#include <pcp/trace.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { kExitUsage = 2, kExitCannotRun = 127, kExitSignal = 128, kAllStateFlags = 127 };

typedef struct {
  int kind; /* the option letter: 'c', 'v', 'e', or 0 for a point */
  double value;
  const char* command;
  const char* tag;
  int state;
  bool quiet;
  bool strict;
} Options;

static const char kUsage[] =
    "Usage: pmtrace [-qx] [-c VALUE | -e COMMAND | -v VALUE] [-h HOST] [-S STATE] TAG\n"
    "\n"
    "Traces TAG once: a point, unless one of -c, -e, -v says otherwise.\n"
    "\n"
    "  -c VALUE    a counter with this value\n"
    "  -e COMMAND  a transaction: the time that the shell command takes\n"
    "  -v VALUE    an observation of this value\n"
    "  -h HOST     the agent's host; otherwise $PCP_TRACE_HOST, otherwise this machine\n"
    "  -q          say nothing when all went well\n"
    "  -x          exit with 1 if the agent has not received the trace\n"
    "  -S STATE    sum of flags for pmtracestate(3): 1 calls, 2 connections, 4 messages,\n"
    "              8 queues, 16 no agent at all\n"
    "  -?, --help  show this text\n"
    "  --version   show the version\n"
    "\n"
    "Exit status: that of COMMAND with -e, 2 after a usage error, otherwise 0.\n";

static _Noreturn void usage_error(const char* what, const char* which) {
  fprintf(stderr, "pmtrace: %s%s\nTry 'pmtrace --help'.\n", what, which);
  exit(kExitUsage);
}

static double number(const char* text, const char* problem) {
  char* end;
  double value = strtod(text, &end);
  if (end == text || *end != '\0') usage_error(problem, text);
  return value;
}

static int state_flags(const char* text) {
  char* end;
  errno = 0;
  long flags = strtol(text, &end, 0);
  if (end == text || *end != '\0' || errno != 0 || flags < 0 || flags > kAllStateFlags)
    usage_error("-S takes a number from 0 to 127 (decimal, 0 octal, 0x hexadecimal), not ", text);
  return (int)flags;
}

static void use_host(const char* host) {
  /* PCP_TRACE_SOCKET would win over the host that the user has just named. */
  unsetenv("PCP_TRACE_SOCKET");
  if (setenv("PCP_TRACE_HOST", host, 1) != 0) {
    fprintf(stderr, "pmtrace: -h: %s\n", strerror(errno));
    exit(kExitUsage);
  }
}

static void set_kind(Options* options, int kind) {
  if (options->kind != 0) usage_error("only one of -c, -e and -v", "");
  options->kind = kind;
}

static Options parse(int argc, char** argv) {
  enum { kHelp = 256, kVersion };
  static const struct option kLong[] = {{"help", no_argument, NULL, kHelp},
                                        {"version", no_argument, NULL, kVersion},
                                        {NULL, 0, NULL, 0}};
  Options options = {0};
  int letter;
  opterr = 0; /* the messages are ours */
  while ((letter = getopt_long(argc, argv, ":c:e:h:qS:v:x", kLong, NULL)) != -1) {
    switch (letter) {
      case 'c':
        set_kind(&options, letter);
        options.value = number(optarg, "-c takes a number, not ");
        break;
      case 'v':
        set_kind(&options, letter);
        options.value = number(optarg, "-v takes a number, not ");
        break;
      case 'e':
        set_kind(&options, letter);
        options.command = optarg;
        break;
      case 'h':
        use_host(optarg);
        break;
      case 'q':
        options.quiet = true;
        break;
      case 'S':
        options.state = state_flags(optarg);
        break;
      case 'x':
        options.strict = true;
        break;
      case ':':
        usage_error("a value is missing after ", argv[optind - 1]);
      case kVersion:
        puts("pmtrace " PCP_TRACE_VERSION);
        exit(0);
      case '?':
        /* Whatever getopt does not know, -? among it. */
        if (optopt > 0 && optopt < kHelp && optopt != '?')
          usage_error("unknown option -", (char[]){(char)optopt, '\0'});
        if (optopt != '?') usage_error("unknown option ", argv[optind - 1]);
        /* fall through */
      default:
        fputs(kUsage, stdout);
        exit(0);
    }
  }
  if (argc - optind != 1) usage_error(argc == optind ? "which TAG?" : "one TAG only", "");
  options.tag = argv[optind];
  return options;
}

/* Seconds that the agent may take to acknowledge. The library complains of a malformed value. */
static double patience(void) {
  const char* text = getenv("PCP_TRACE_REQTIMEOUT");
  double seconds = text != NULL ? strtod(text, NULL) : 0;
  return seconds > 0 ? seconds : 10;
}

/* Turns the result of a call into that of its delivery, if it shall be delivered at all. */
static int delivered(const Options* options, int status) {
  bool no_agent = (options->state & PMTRACE_STATE_NOAGENT) || getenv("PCP_TRACE_NOAGENT");
  if (status < 0 || no_agent) return status;
  if (!pmtrace_flush(patience())) return PMTRACE_ERR_TIMEOUT;
  pmtrace_stats_t stats;
  pmtrace_stats(&stats, sizeof stats);
  if (stats.undeliverable > 0) return PMTRACE_ERR_TAGLENGTH;
  return stats.uncertain > 0 ? PMTRACE_ERR_TIMEOUT : status;
}

/* Says how it went; true if it went well. */
static bool report(const Options* options, const char* what, int status) {
  if (status < 0) {
    fprintf(stderr, "pmtrace: %s error: %s\n", what, pmtraceerrstr(status));
  } else if (!options->quiet) {
    printf("pmtrace: %s complete (tag=\"%s\"", what, options->tag);
    if (options->kind == 'c' || options->kind == 'v') printf(", value=%f", options->value);
    printf(")\n");
  }
  return status >= 0;
}

/* Exit status of a command as shells see it. */
static int run(const char* command) {
  int status = system(command);
  if (status == -1) {
    fprintf(stderr, "pmtrace: cannot run a shell: %s\n", strerror(errno));
    return kExitCannotRun;
  }
  return WIFSIGNALED(status) ? kExitSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs the command whatever happens to the tracing. A begin that found no agent has its end all the
 * same, in case one has come meanwhile; but one line about it is enough. */
static int transaction(const Options* options, bool* traced) {
  int begun = pmtracebegin(options->tag);
  if (begun < 0) *traced = report(options, "transaction begin", begun);
  int exit_status = run(options->command);
  int ended = delivered(options, pmtraceend(options->tag));
  if (ended >= 0)
    *traced = report(options, "transaction", ended);
  else if (begun >= 0)
    *traced = report(options, "transaction end", ended);
  return exit_status;
}

int main(int argc, char** argv) {
  Options options = parse(argc, argv);
  bool traced = true;
  int exit_status = 0;

  /* Calls that never report the connection would be of no use here. */
  pmtracestate(options.state & ~PMTRACE_STATE_ASYNC);
  switch (options.kind) {
    case 'c':
      traced = report(&options, "counter",
                      delivered(&options, pmtracecounter(options.tag, options.value)));
      break;
    case 'v':
      traced = report(&options, "observation",
                      delivered(&options, pmtraceobs(options.tag, options.value)));
      break;
    case 'e':
      exit_status = transaction(&options, &traced);
      break;
    default:
      traced = report(&options, "point", delivered(&options, pmtracepoint(options.tag)));
  }
  return exit_status == 0 && options.strict && !traced ? EXIT_FAILURE : exit_status;
}
