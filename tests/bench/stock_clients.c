/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads an agent as programs with the stock library do: either processes that call the linked
 * libpcp_trace in a loop, asynchronously; or sockets that write many DATA PDUs at once, faster than
 * the library ever could. Prints the calls by type, the calls that returned an error, and the
 * connections that the agent dropped. The options:
 *
 *   --raw        sockets instead of processes
 *   --clients N  processes (16) or sockets (4)
 *   --tags N     tags, a quarter of each type (32)
 *   --seconds S  duration (5)
 *   --calls N    most calls of each process
 *   --port PORT  of the agent on this host
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pcp/trace.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A name is "tag" and four digits. */
enum { TYPES = 4, MAX_TAGS = 10000, NAME_BYTES = 8, PDU_BYTES = 24 + NAME_BYTES };
enum { PDUS_AT_ONCE = 256 };

static const char* const type_names[TYPES] = {"transact", "point", "observe", "counter"};

static int raw;
static int clients;
static int tags = 32;
static double seconds = 5;
static double most_calls = 1e18; /* of each process */
static int port = 4323;

/* The clients' counts, by type; one element for each client, in shared memory. */
struct done {
  uint64_t calls[TYPES];
  uint64_t failed;
  uint64_t dropped; /* connections, raw only */
};
static struct done* done;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

/* Tag 0 is a transaction, 1 a point, 2 an observation, 3 a counter, 4 a transaction again ... */
static int type_of(int tag) { return tag % TYPES; }

static void name_tag(char* name, int tag) {
  char text[16];
  snprintf(text, sizeof text, "tag%04d", tag);
  memcpy(name, text, NAME_BYTES);
}

/* The library. --------------------------------------------------------------------------------- */

static int call(const char* name, int type, double value) {
  int began;
  switch (type) {
    case 0:
      began = pmtracebegin(name);
      return began < 0 ? began : pmtraceend(name);
    case 1:
      return pmtracepoint(name);
    case 2:
      return pmtraceobs(name, value);
    default:
      return pmtracecounter(name, value);
  }
}

static void call_until(double end, struct done* mine) {
  enum { CALLS_BETWEEN_LOOKS = 64 };
  static char names[MAX_TAGS][NAME_BYTES];
  int tag;
  uint64_t calls;
  for (tag = 0; tag < tags; ++tag) name_tag(names[tag], tag);

  pmtracestate(PMTRACE_STATE_ASYNC);
  for (calls = 0; (double)calls < most_calls; ++calls) {
    if (calls % CALLS_BETWEEN_LOOKS == 0 && now() >= end) break;
    tag = (int)(calls % (uint64_t)tags);
    if (call(names[tag], type_of(tag), (double)(calls % 1000)) < 0) ++mine->failed;
    ++mine->calls[type_of(tag)];
  }
}

/* The connection is reset when the process ends, and undelivered bytes are lost, whatever the agent
 * does. So this waits until all bytes are delivered, or the agent is gone. */
static void wait_until_delivered(void) {
  const struct timespec pause = {0, 10 * 1000 * 1000};
  struct pollfd hung_up = {0, 0, 0};
  struct sockaddr_in peer;
  socklen_t size;
  int waiting;
  for (hung_up.fd = 3; hung_up.fd < 20; ++hung_up.fd) {
    size = sizeof peer;
    if (getpeername(hung_up.fd, (struct sockaddr*)&peer, &size) != 0) continue;
    while (ioctl(hung_up.fd, SIOCOUTQ, &waiting) == 0 && waiting > 0 && poll(&hung_up, 1, 0) == 0)
      nanosleep(&pause, NULL);
  }
}

static void run_processes(void) {
  const double end = now() + seconds;
  int i, status, failures = 0;
  for (i = 0; i < clients; ++i) {
    const pid_t child = fork();
    if (child < 0) die("fork");
    if (child == 0) {
      call_until(end, &done[i]);
      wait_until_delivered();
      exit(0);
    }
  }
  for (i = 0; i < clients; ++i)
    if (wait(&status) < 0 || status != 0) ++failures;
  if (failures > 0) fprintf(stderr, "stock_clients: %d processes failed\n", failures);
}

/* Sockets. ------------------------------------------------------------------------------------- */

/* A DATA PDU of a tag: 12 bytes of header, version, length of the tag, type, no ACK, the value, and
 * the tag, padded. All take 32 bytes, so that the stock agent, which reads 1,024, stays in step. */
static void fill_pdu(unsigned char* pdu, int tag, int number) {
  static const unsigned char minus_one[8] = {0xbf, 0xf0, 0, 0, 0, 0, 0, 0};
  const unsigned char a_few_ms[8] = {0x3f, (unsigned char)(0x60 + number % 32), 0x62, 0x4d, 0, 0, 0,
                                     0};
  const uint32_t header[3] = {htonl(PDU_BYTES), htonl(0x7051), htonl((uint32_t)getpid())};
  memcpy(pdu, header, sizeof header);
  pdu[12] = 1;
  pdu[13] = NAME_BYTES;
  pdu[14] = (unsigned char)(1 + type_of(tag));
  pdu[15] = 0;
  memcpy(pdu + 16, type_of(tag) == 1 ? minus_one : a_few_ms, 8);
  name_tag((char*)pdu + 24, tag);
}

static int connect_to_agent(void) {
  struct sockaddr_in address;
  unsigned char greeting[16];
  const int s = socket(AF_INET, SOCK_STREAM, 0);
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (s < 0 || connect(s, (struct sockaddr*)&address, sizeof address) < 0) die("connect");
  if (recv(s, greeting, sizeof greeting, MSG_WAITALL) != (ssize_t)sizeof greeting) die("greeting");
  return s;
}

/* Writes some of a socket's remaining PDUs. Counts a PDU once it is written completely. */
static void write_some(int* s, const unsigned char* pdus, size_t* at, struct done* mine) {
  const size_t all = (size_t)PDUS_AT_ONCE * PDU_BYTES;
  size_t begin = *at;
  const ssize_t sent = send(*s, pdus + begin, all - begin, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (sent < 0) {
    ++mine->dropped;
    close(*s);
    *s = connect_to_agent();
    *at = 0;
    return;
  }
  *at = begin + (size_t)sent;
  for (begin /= PDU_BYTES; begin < *at / PDU_BYTES; ++begin)
    ++mine->calls[pdus[begin * PDU_BYTES + 14] - 1];
  *at %= all;
}

static void run_sockets(void) {
  const double end = now() + seconds;
  unsigned char* pdus = malloc((size_t)PDUS_AT_ONCE * PDU_BYTES);
  struct pollfd* sockets = calloc((size_t)clients, sizeof *sockets);
  size_t* at = calloc((size_t)clients, sizeof *at);
  int i, unfinished;
  if (!pdus || !sockets || !at) die("malloc");
  for (i = 0; i < PDUS_AT_ONCE; ++i) fill_pdu(pdus + (size_t)i * PDU_BYTES, i % tags, i / 4);
  for (i = 0; i < clients; ++i) {
    sockets[i].fd = connect_to_agent();
    sockets[i].events = POLLOUT;
  }
  do {
    if (poll(sockets, (nfds_t)clients, -1) < 0) die("poll");
    unfinished = 0;
    for (i = 0; i < clients; ++i) {
      if (now() > end && at[i] == 0) sockets[i].events = 0;
      if (sockets[i].revents & (POLLERR | POLLHUP)) sockets[i].revents |= POLLOUT;
      if (sockets[i].events != 0 && sockets[i].revents & POLLOUT)
        write_some(&sockets[i].fd, pdus, &at[i], &done[i]);
      unfinished += sockets[i].events != 0;
    }
  } while (unfinished > 0);
  for (i = 0; i < clients; ++i) close(sockets[i].fd);
  free(pdus);
  free(sockets);
  free(at);
}

/* ---------------------------------------------------------------------------------------------- */

static void print_done(void) {
  struct done all;
  int i, type;
  memset(&all, 0, sizeof all);
  for (i = 0; i < clients; ++i) {
    for (type = 0; type < TYPES; ++type) all.calls[type] += done[i].calls[type];
    all.failed += done[i].failed;
    all.dropped += done[i].dropped;
  }
  for (type = 0; type < TYPES; ++type)
    printf("%s %llu\n", type_names[type], (unsigned long long)all.calls[type]);
  printf("failed %llu\ndropped %llu\n", (unsigned long long)all.failed,
         (unsigned long long)all.dropped);
}

static void parse_options(int argc, char** argv) {
  char port_text[16];
  int i;
  for (i = 1; i < argc; ++i) {
    const char* option = argv[i];
    if (strcmp(option, "--raw") == 0) {
      raw = 1;
      continue;
    }
    const char* value = ++i < argc ? argv[i] : "";
    if (strcmp(option, "--clients") == 0)
      clients = atoi(value);
    else if (strcmp(option, "--tags") == 0)
      tags = atoi(value);
    else if (strcmp(option, "--seconds") == 0)
      seconds = atof(value);
    else if (strcmp(option, "--calls") == 0)
      most_calls = atof(value);
    else if (strcmp(option, "--port") == 0)
      port = atoi(value);
    else
      tags = 0;
  }
  if (clients <= 0) clients = raw ? 4 : 16;
  if (tags <= 0 || tags > MAX_TAGS) {
    fputs("stock_clients: a wrong option\n", stderr);
    exit(1);
  }
  /* The library takes its agent from the environment. */
  snprintf(port_text, sizeof port_text, "%d", port);
  setenv("PCP_TRACE_HOST", "127.0.0.1", 1);
  setenv("PCP_TRACE_PORT", port_text, 1);
}

int main(int argc, char** argv) {
  parse_options(argc, argv);
  done = mmap(NULL, (size_t)clients * sizeof *done, PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (done == MAP_FAILED) die("mmap");
  if (raw)
    run_sockets();
  else
    run_processes();
  print_done();
  return 0;
}
