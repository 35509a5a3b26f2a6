/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A server with threads, traced by handle: a tag is looked up once, a call then costs nanoseconds,
 * and an open transaction is a variable. The clients are threads of the same program.
 *
 *   echo_server SECONDS
 *
 * Compare what a client and a server's thread see of the same request:
 *
 *   pmrep -t 1 trace.transact.rate trace.transact.ave_time trace.transact.max_time
 */
#include <arpa/inet.h>
#include <pcp/trace.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kServers = 2, kClients = 4 };

static pmtrace_handle ask, answer, failed, length;
static struct sockaddr_in address;
static int listening;
static atomic_int must_end;
static atomic_long answered;

/* Answers a client until it hangs up. */
static void serve(int client) {
  char text[256];
  pmtrace_tx transaction;
  ssize_t got;
  while ((got = read(client, text, sizeof text)) > 0) {
    pmtrace_begin(answer, &transaction);
    pmtrace_observe(length, (double)got);
    if (write(client, text, (size_t)got) != got) pmtrace_point(failed);
    pmtrace_end(&transaction);
    answered++;
  }
  close(client);
}

static void* server(void* unused) {
  int client;
  while ((client = accept(listening, NULL, NULL)) >= 0) serve(client);
  return unused; /* main has shut the socket down */
}

static void* client(void* seed) {
  unsigned random = *(unsigned*)seed;
  char text[256];
  pmtrace_tx transaction;
  while (!must_end) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    int requests;
    if (connect(fd, (struct sockaddr*)&address, sizeof address) != 0) exit(1);
    for (requests = 0; requests < 100 && !must_end; requests++) {
      const size_t size = 1 + (size_t)rand_r(&random) % sizeof text;
      memset(text, '.', size);
      pmtrace_begin(ask, &transaction);
      if (write(fd, text, size) == (ssize_t)size && recv(fd, text, size, MSG_WAITALL) > 0)
        pmtrace_end(&transaction);
      else
        pmtrace_abort(&transaction);
      usleep(500);
    }
    close(fd);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int seconds = argc == 2 ? atoi(argv[1]) : 0;
  pthread_t servers[kServers], clients[kClients];
  unsigned seeds[kClients];
  socklen_t size = sizeof address;
  int i;
  if (seconds <= 0) {
    fputs("Usage: echo_server SECONDS\n", stderr);
    return 2;
  }
  ask = pmtrace_tag("ask");
  answer = pmtrace_tag("answer");
  failed = pmtrace_tag("client-gone");
  length = pmtrace_tag("bytes");

  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listening = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listening, (struct sockaddr*)&address, size) != 0 || listen(listening, kClients) != 0 ||
      getsockname(listening, (struct sockaddr*)&address, &size) != 0) {
    perror("echo_server");
    return 1;
  }
  for (i = 0; i < kServers; i++) pthread_create(&servers[i], NULL, server, NULL);
  for (i = 0; i < kClients; i++) {
    seeds[i] = (unsigned)i;
    pthread_create(&clients[i], NULL, client, &seeds[i]);
  }
  sleep((unsigned)seconds);
  must_end = 1;
  for (i = 0; i < kClients; i++) pthread_join(clients[i], NULL);
  shutdown(listening, SHUT_RDWR);
  for (i = 0; i < kServers; i++) pthread_join(servers[i], NULL);
  printf("served %ld requests\n", answered);
  return 0;
}
