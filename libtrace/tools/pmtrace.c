/*
 * pmtrace: tracing from the command line and from scripts. See pmtrace(1).
 *
 * It prints "complete" only after the agent has counted the call.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <pcp/trace.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  kExitUsage = 2,
  kExitNoProgram = 126,
  kExitNotFound = 127,
  kExitSignal = 128,
  kAllStateFlags = 127,
  kLongestTag = 254,
  kMostLabels = 16
};

/* getopt's values for long options, beyond all letters. */
enum { kHelp = 256, kVersion, kRun };

typedef struct {
  int kind; /* the option letter: 'a', 'c', 'v', 'e', or 0 for a point */
  double value;
  const char* command; /* for the shell */
  bool runs_words;     /* --run */
  char** words;        /* of --run: the command; else NULL alone */
  int ended_by;        /* the signal that ended the command, or 0 */
  const char* tag;
  pmtrace_label labels[kMostLabels];
  size_t label_count;
  int state;
  bool any_status; /* a command that fails completes its transaction, too */
  bool labels_status;
  bool untraced; /* --run with an invalid tag */
  bool quiet;
  bool strict;
} Options;

static const char kUsage[] =
    "Usage: pmtrace [-fqsx] [-a N | -c VALUE | -e COMMAND | -v VALUE] [-L LABEL=VALUE]...\n"
    "               [-h HOST] [-S STATE] TAG\n"
    "       pmtrace --run [-fqsx] [-L LABEL=VALUE]... [-h HOST] [-S STATE]\n"
    "               TAG COMMAND [ARGUMENT]...\n"
    "\n"
    "Traces TAG once: a point, unless one of -a, -c, -e, -v says otherwise.\n"
    "\n"
    "  -a N        a counter to which N is added\n"
    "  -c VALUE    a counter with this value\n"
    "  -e COMMAND  a transaction: the time that the shell command takes; aborted if it fails\n"
    "  --run       the same for a COMMAND of words, which no shell changes; comes first\n"
    "  -f          with -e: completed even if the command fails\n"
    "  -s          with -e: a label \"status\", the command's exit status as below\n"
    "  -v VALUE    an observation of this value\n"
    "  -L LABEL=VALUE  a label that sets this TAG apart from others; up to 16 of them\n"
    "  -h HOST     the agent's host; otherwise $PCP_TRACE_HOST, otherwise this machine\n"
    "  -q          say nothing when all went well; with --run, nor without an agent\n"
    "  -x          exit with 1 if the agent has not received the trace\n"
    "  -S STATE    sum of flags for pmtracestate(3): 1 calls, 2 connections, 4 messages,\n"
    "              8 their bytes, 16 no agent at all\n"
    "  -?, --help  show this text\n"
    "  --version   show the version\n"
    "\n"
    "Exit status: 0 if all went well; 1 with -x if the agent has not received the\n"
    "trace, and if standard output cannot be written; 2 after a usage error; with -e\n"
    "that of COMMAND, 127 if it was not found, 126 if it is no program, 128 and the\n"
    "number of a signal.\n";

static _Noreturn void usage_error(const char* what, const char* which) {
  fprintf(stderr, "pmtrace: %s%s\nTry 'pmtrace --help'.\n", what, which);
  exit(kExitUsage);
}

/* The command of --run is run all the same. */
static void refuse_tag(Options* options, const char* what, const char* which) {
  if (!options->runs_words) usage_error(what, which);
  if (!options->untraced) fprintf(stderr, "pmtrace: not traced: %s%s\n", what, which);
  options->untraced = true;
}

/* Fails if standard output could not be written. */
static int end(int exit_status) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return exit_status;
  fprintf(stderr, "pmtrace: standard output: %s\n", strerror(errno));
  return exit_status == 0 ? EXIT_FAILURE : exit_status;
}

static _Noreturn void say(const char* text) {
  fputs(text, stdout);
  exit(end(0));
}

static double number(const char* text, const char* problem) {
  char* rest;
  double value = strtod(text, &rest);
  if (rest == text || *rest != '\0' || !isfinite(value)) usage_error(problem, text);
  return value;
}

static int state_flags(const char* text) {
  char* rest;
  errno = 0;
  long flags = strtol(text, &rest, 0);
  if (rest == text || *rest != '\0' || errno != 0 || flags < 0 || flags > kAllStateFlags)
    usage_error("-S takes a number from 0 to 127 (decimal, 0 octal, 0x hexadecimal), not ", text);
  return (int)flags;
}

static void use_host(const char* host) {
  if (*host == '\0') usage_error("-h takes the name of a host", "");
  /* PCP_TRACE_SOCKET would win over the host that the user has just named. */
  unsetenv("PCP_TRACE_SOCKET");
  if (setenv("PCP_TRACE_HOST", host, 1) != 0) {
    fprintf(stderr, "pmtrace: -h: %s\n", strerror(errno));
    exit(kExitUsage);
  }
}

static void set_kind(Options* options, int kind) {
  if (options->kind != 0) usage_error("only one of -a, -c, -e and -v", "");
  options->kind = kind;
}

static void add_label(Options* options, char* text) {
  char* equals = strchr(text, '=');
  if (equals == NULL) {
    refuse_tag(options, "-L takes LABEL=VALUE, not ", text);
  } else if (options->label_count == kMostLabels) {
    refuse_tag(options, "a TAG has at most 16 labels", "");
  } else {
    *equals = '\0';
    options->labels[options->label_count++] = (pmtrace_label){text, equals + 1};
  }
}

static void take_option(Options* options, int letter) {
  switch (letter) {
    case 'a':
      set_kind(options, letter);
      options->value = number(optarg, "-a takes a finite number from 0 on, not ");
      if (options->value < 0) usage_error("-a takes a finite number from 0 on, not ", optarg);
      break;
    case 'c':
      set_kind(options, letter);
      options->value = number(optarg, "-c takes a finite number, not ");
      break;
    case 'v':
      set_kind(options, letter);
      options->value = number(optarg, "-v takes a finite number, not ");
      break;
    case 'e':
      set_kind(options, letter);
      options->command = optarg;
      break;
    case 'f':
      options->any_status = true;
      break;
    case 'h':
      use_host(optarg);
      break;
    case 'L':
      add_label(options, optarg);
      break;
    case 'q':
      options->quiet = true;
      break;
    case 's':
      options->labels_status = true;
      break;
    case 'S':
      options->state = state_flags(optarg);
      break;
    case 'x':
      options->strict = true;
      break;
  }
}

/* For options that getopt does not know, and for -?, which asks for help. */
static _Noreturn void unknown_option(const char* argument) {
  if (optopt == '?') say(kUsage);
  if (optopt > 0 && optopt < kHelp) usage_error("unknown option -", (char[]){(char)optopt, '\0'});
  usage_error("unknown option ", argument);
}

static Options parse(int argc, char** argv) {
  static const struct option kLong[] = {{"help", no_argument, NULL, kHelp},
                                        {"version", no_argument, NULL, kVersion},
                                        {"run", no_argument, NULL, kRun},
                                        {NULL, 0, NULL, 0}};
  Options options = {0};
  /* Then the options end before TAG: the command may have options. */
  options.runs_words = argc > 1 && strcmp(argv[1], "--run") == 0;
  const char* const letters = options.runs_words ? "+:a:c:e:fh:L:qsS:v:x" : ":a:c:e:fh:L:qsS:v:x";
  int letter;
  opterr = 0; /* the messages are ours */
  while ((letter = getopt_long(argc, argv, letters, kLong, NULL)) != -1) {
    switch (letter) {
      case kHelp:
        say(kUsage);
      case kVersion:
        say("pmtrace " PCP_TRACE_VERSION "\n");
      case kRun:
        if (!options.runs_words) usage_error("--run comes before all other options", "");
        set_kind(&options, 'e');
        options.command = "exec \"$@\"";
        break;
      case ':':
        usage_error("a value is missing after ", argv[optind - 1]);
      case '?':
        unknown_option(argv[optind - 1]);
      default:
        take_option(&options, letter);
    }
  }
  options.tag = argv[optind];
  if (options.tag == NULL) usage_error("which TAG?", "");
  const size_t length = strlen(options.tag);
  if (length == 0 || length > kLongestTag) refuse_tag(&options, "a TAG has 1 to 254 bytes", "");
  options.words = argv + optind + 1;
  if (options.runs_words != (*options.words != NULL))
    usage_error(options.runs_words ? "which COMMAND?" : "one TAG only", "");
  if (options.labels_status && options.kind != 'e') usage_error("-s is only for -e", "");
  if (options.labels_status && options.label_count == kMostLabels)
    refuse_tag(&options, "with -s a TAG has at most 15 other labels", "");
  return options;
}

/* Adds the labels to the text of the tag. The library reports bad and dropped labels. */
static void put_labels(Options* options) {
  if (options->label_count == 0 || options->untraced) return;
  pmtrace_handle tag = pmtrace_tag_with(options->tag, options->labels, options->label_count);
  if (tag == NULL && pmtrace_tag(options->tag) == NULL) return; /* the stub library */
  if (tag != NULL)
    options->tag = pmtrace_tag_text(tag);
  else if (options->runs_words)
    options->untraced = true;
  else
    usage_error("no tag has these labels: ", options->tag);
}

/* Seconds that the agent may take to acknowledge. The library reports a malformed value. */
static double patience(void) {
  const char* text = getenv("PCP_TRACE_REQTIMEOUT");
  double seconds = text != NULL ? strtod(text, NULL) : 0;
  return seconds > 0 ? seconds : 10;
}

/* False if the user wants no agent. */
static bool to_be_sent(const Options* options) {
  return !(options->state & PMTRACE_STATE_NOAGENT) && getenv("PCP_TRACE_NOAGENT") == NULL;
}

static pmtrace_stats_t statistics(void) {
  pmtrace_stats_t stats;
  pmtrace_stats(&stats, sizeof stats);
  return stats;
}

/* Turns a call's result into its delivery's result, if an agent is wanted. */
static int delivered(const Options* options, int status) {
  if (status < 0 || !to_be_sent(options)) return status;
  if (!pmtrace_flush(patience())) return PMTRACE_ERR_TIMEOUT;
  pmtrace_stats_t stats = statistics();
  if (stats.undeliverable > 0) return PMTRACE_ERR_TAGLENGTH;
  return stats.uncertain > 0 ? PMTRACE_ERR_TIMEOUT : status;
}

/* True for values of errno, and for what the agent does. */
static bool is_of_connection(int status) {
  return status > PMTRACE_ERR_TAGNAME || status <= PMTRACE_ERR_IPC;
}

/* Prints that `what` is `done`, or why not; true if the agent has counted it. */
static bool report(const Options* options, const char* what, const char* done, int status) {
  if (status < 0) {
    if (options->runs_words && options->quiet && is_of_connection(status)) return false;
    fprintf(stderr, "pmtrace: %s error: %s\n", what, pmtraceerrstr(status));
    return false;
  }
  bool sent = to_be_sent(options);
  if (!options->quiet) {
    printf("pmtrace: %s %s (tag=\"%s\"", what, sent ? done : "not sent", options->tag);
    if (options->kind != 0 && options->kind != 'e') printf(", value=%f", options->value);
    printf(")\n");
  }
  return sent;
}

static bool has_terminal(void) {
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  return terminal >= 0 && close(terminal) == 0;
}

/* Starts a program with the original signal mask. Gives 0 or an errno value. */
static int spawn(char** argv, const sigset_t* mask, bool own_group, pid_t* pid) {
  posix_spawnattr_t attributes;
  int error = posix_spawnattr_init(&attributes);
  if (error != 0) return error;
  short flags = POSIX_SPAWN_SETSIGMASK | (own_group ? POSIX_SPAWN_SETPGROUP : 0);
  posix_spawnattr_setflags(&attributes, flags);
  posix_spawnattr_setsigmask(&attributes, mask);
  error = posix_spawnp(pid, argv[0], NULL, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

/* Starts the words of --run themselves: a shell may drop variables that are no identifiers. Only a
 * script without "#!" needs a shell. */
static int start(const Options* options, const sigset_t* mask, bool own_group, pid_t* pid) {
  int error = options->runs_words ? spawn(options->words, mask, own_group, pid) : ENOEXEC;
  if (error != ENOEXEC) return error;
  size_t count = 0;
  while (options->words[count] != NULL) ++count;
  char* const head[] = {"/bin/sh", "-c", "--", (char*)options->command, "sh"};
  char** const argv = malloc(sizeof head + (count + 1) * sizeof *argv);
  if (argv == NULL) return ENOMEM;
  memcpy(argv, head, sizeof head);
  memcpy(argv + sizeof head / sizeof *head, options->words, (count + 1) * sizeof *argv);
  error = spawn(argv, mask, own_group, pid);
  free(argv);
  return error;
}

/* Waits for the command's end. Forwards signals that would have ended pmtrace, so that the end can
 * still be traced. Gives the exit status by the shells' convention. */
static int await(pid_t pid, const sigset_t* signals, bool own_group, int* ended_by) {
  for (;;) {
    int number = 0;
    int status;
    sigwait(signals, &number);
    if (number == SIGCHLD) {
      if (waitpid(pid, &status, WNOHANG) != pid) continue;
      if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
      *ended_by = WTERMSIG(status);
      return kExitSignal + *ended_by;
    } else if (own_group) {
      kill(-pid, number);
    } else if (number == SIGTERM || number == SIGHUP) {
      kill(pid, number); /* the terminal sends the others to the command, too */
    }
  }
}

/* Runs the command. With its own process group a signal reaches all of its processes, but it could
 * not read from a terminal. */
static int run(Options* options) {
  static const int kAwaited[] = {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT};
  sigset_t signals, before;
  sigemptyset(&signals);
  for (size_t i = 0; i < sizeof kAwaited / sizeof *kAwaited; ++i) sigaddset(&signals, kAwaited[i]);
  signal(SIGCHLD, SIG_DFL);
  sigprocmask(SIG_BLOCK, &signals, &before);
  bool own_group = !has_terminal();
  pid_t pid;
  int error = start(options, &before, own_group, &pid);
  if (error == 0) return await(pid, &signals, own_group, &options->ended_by);
  const char* const program = options->runs_words ? options->words[0] : "cannot run a shell";
  fprintf(stderr, "pmtrace: %s: %s\n", program, strerror(error));
  return options->runs_words && error != ENOENT ? kExitNoProgram : kExitNotFound;
}

/* Passes the current trace to the command, which may trace or start programs that do. Without a
 * trace the environment is unchanged. */
static void pass_trace_on(void) {
  char traceparent[PMTRACE_CONTEXT_SIZE], tracestate[PMTRACE_CONTEXT_STATE_SIZE];
  if (pmtrace_context(NULL, traceparent, sizeof traceparent) <= 0) return;
  setenv("TRACEPARENT", traceparent, 1);
  if (pmtrace_context_state(NULL, tracestate, sizeof tracestate) > 0)
    setenv("TRACESTATE", tracestate, 1);
  else
    unsetenv("TRACESTATE"); /* the old one belongs to another trace */
}

/* Ends it under its tag with the command's status as a label. Calls by handle report a connection
 * only in the state SYNC. */
static int end_with_status(Options* options, pmtrace_tx* tx, int exit_status, bool completed) {
  char status[16];
  snprintf(status, sizeof status, "%d", exit_status);
  const pmtrace_label label = {"status", status};
  pmtrace_handle tag = pmtrace_tag_add_labels(pmtrace_tag(options->tag), &label, 1);
  if (tag != NULL) options->tag = pmtrace_tag_text(tag); /* NULL: the stub library */
  pmtracestate((options->state & ~PMTRACE_STATE_ASYNC) | PMTRACE_STATE_SYNC);
  return completed ? pmtrace_end_as(tx, tag) : pmtrace_abort_as(tx, tag);
}

/* Runs the command even if tracing fails. After a begin without an agent the end is still traced,
 * since an agent may have come meanwhile; only one error is printed. */
static int transaction(Options* options, bool* traced) {
  pmtrace_tx tx;
  int begun = options->labels_status ? pmtrace_begin(pmtrace_tag(options->tag), &tx)
                                     : pmtracebegin(options->tag);
  if (begun < 0) *traced = report(options, "transaction begin", "", begun);
  pass_trace_on();
  int exit_status = run(options);
  bool completed = exit_status == 0 || options->any_status;
  int ended = options->labels_status ? end_with_status(options, &tx, exit_status, completed)
              : completed            ? pmtraceend(options->tag)
                                     : pmtraceabort(options->tag);
  /* An abort does not report the connection. */
  if (ended == 0 && begun < 0 && !statistics().connected) ended = begun;
  ended = delivered(options, ended);
  if (ended >= 0)
    *traced = report(options, "transaction", completed ? "complete" : "aborted", ended);
  else if (begun >= 0)
    *traced = report(options, completed ? "transaction end" : "transaction abort", "", ended);
  return exit_status;
}

/* After Ctrl-C bash ends a script only if the signal has ended the command, too. */
static void end_by_interrupt(void) {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  signal(SIGINT, SIG_DFL);
  raise(SIGINT);
  sigprocmask(SIG_UNBLOCK, &interrupt, NULL);
}

int main(int argc, char** argv) {
  Options options = parse(argc, argv);
  bool traced = true;
  int exit_status = 0;

  /* ASYNC would hide connection errors. */
  pmtracestate(options.state & ~PMTRACE_STATE_ASYNC);
  put_labels(&options);
  switch (options.kind) {
    case 'a':
      traced = report(&options, "increment", "complete",
                      delivered(&options, pmtraceadd(options.tag, options.value)));
      break;
    case 'c':
      traced = report(&options, "counter", "complete",
                      delivered(&options, pmtracecounter(options.tag, options.value)));
      break;
    case 'v':
      traced = report(&options, "observation", "complete",
                      delivered(&options, pmtraceobs(options.tag, options.value)));
      break;
    case 'e':
      traced = !options.untraced;
      exit_status = traced ? transaction(&options, &traced) : run(&options);
      break;
    default:
      traced =
          report(&options, "point", "complete", delivered(&options, pmtracepoint(options.tag)));
  }
  if (options.runs_words && options.ended_by == SIGINT) end_by_interrupt();
  return end(exit_status == 0 && options.strict && !traced ? EXIT_FAILURE : exit_status);
}
