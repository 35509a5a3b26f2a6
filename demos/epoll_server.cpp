// SPDX-License-Identifier: LGPL-2.1-or-later
// A server of HTTP with an event loop, a pool of threads, and a backend in another process:
//
//   epoll_server REQUESTS [LOG]
//
// A request goes from the loop to the pool and back. These calls keep its trace whole:
//
//   the loop     begin_from, detach     reads the request, and hands it to the pool
//   the pool     Attached, begin        searches, or asks the backend and hands the trace on
//   the backend  begin_from             finds a price, sometimes too late
//   the loop     Attached, label, end   writes the reply
//
// The clients are threads of the same program. One search in 70 is for the item 2307, which takes
// the index long. LOG gets a line for each request, for a test: its id, the client's traceparent,
// route, status (0: no reply), number of spans, and the reason of a failure, with tabs between
// them.
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <pcp/trace.hpp>
#include <random>
#include <string>
#include <thread>

namespace {

using pcp::trace::Attached;
using pcp::trace::Running;
using pcp::trace::Transaction;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 4;  // of the pool, and of the backend
constexpr int kClients = 8;
constexpr int kSlowItem = 2307;

Transaction accept_client{"accept-client"};  // outside of all requests
Transaction pool_wait{"pool-wait"};
Transaction search{"search"};
Transaction index_lock{"index-lock"};
Transaction search_index{"search-index"};
Transaction ask_price{"ask-price"};
Transaction find_price{"find-price"};  // in the backend
Transaction write_reply{"write-reply"};

// A connection, with one request at a time. While that is in the pool, the loop does not touch it.
struct Connection {
  int fd = -1;
  bool has_gone = false;
  bool is_in_pool = false;
  std::string received{};
  struct Request {
    int id = 0;
    std::string route{};
    int item = 0;
    std::string parent{};  // the client's traceparent
    Running running{};
    Clock::time_point queued{};
    int status = 404;
    std::string failure{};
    int spans = 1;
  } request{};
};
using Request = Connection::Request;

// Begins a step inside of the transaction to which this thread is attached. The note is for the
// test of this program: each step is in the trace of its own request.
Running begin_step(Request& request, const Transaction& tag) {
  Running step = tag.begin();
  step.note("id", request.id);
  ++request.spans;
  return step;
}

void pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Ends the program if it cannot go on.
int must(ssize_t result, const char* what) {
  if (result >= 0) return static_cast<int>(result);
  std::perror(what);
  std::exit(1);
}

// Listens on any port of 127.0.0.1.
int make_listener() {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = must(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  must(::bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here), "bind");
  must(::listen(fd, 128), "listen");
  return fd;
}

int connect_to(int listener) {
  sockaddr_in there{};
  socklen_t size = sizeof there;
  auto* const address = reinterpret_cast<sockaddr*>(&there);
  must(::getsockname(listener, address, &size), "getsockname");
  const int fd = must(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  must(::connect(fd, address, size), "connect");
  return fd;
}

// The loop and the pool hand connections to each other through a pair of sockets, since epoll waits
// for those, too.
void push(int fd, void* one) { must(::write(fd, &one, sizeof one), "write"); }
Connection* pop(int fd) {
  void* one = nullptr;
  must(::read(fd, &one, sizeof one), "read");
  return static_cast<Connection*>(one);
}

// Waits for nothing but events.
struct EventLoop {
  int listener;
  int pool;
  std::FILE* log;
  int epoll = must(::epoll_create1(0), "epoll_create1");
  std::map<int, Connection> connections{};
  int last_id = 0;
  int accepted = 0;

  // Serves until a null comes from the pool, and all clients have gone.
  void run() {
    watch(listener);
    watch(pool);
    for (bool must_end = false; !must_end || !connections.empty();) {
      epoll_event event{};
      if (::epoll_wait(epoll, &event, 1, -1) != 1) continue;
      if (event.data.fd == listener) {
        const Running accepting = accept_client.begin();
        const int fd = must(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK), "accept");
        connections[fd].fd = fd;
        watch(fd);
        ++accepted;
      } else if (event.data.fd != pool) {
        go_on(connections.at(event.data.fd));
      } else if (Connection* const connection = pop(pool)) {
        finish(*connection, connection->request);
      } else {
        must_end = true;
      }
    }
  }

  void watch(int fd) const {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    must(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
  }

  // Reads what is there, and begins the next request unless one is in the pool.
  void go_on(Connection& connection) {
    std::array<char, 4096> text{};
    const ssize_t got = ::read(connection.fd, text.data(), text.size());
    if (got > 0) connection.received.append(text.data(), static_cast<std::size_t>(got));
    connection.has_gone = got == 0 || (got < 0 && errno != EAGAIN);
    if (connection.has_gone) ::epoll_ctl(epoll, EPOLL_CTL_DEL, connection.fd, nullptr);
    if (connection.is_in_pool) return;
    const std::size_t end = connection.received.find("\r\n\r\n");
    if (end != std::string::npos) {
      begin(connection, connection.request, connection.received.substr(0, end));
      connection.received.erase(0, end + 4);
    } else if (connection.has_gone) {
      ::close(connection.fd);
      connections.erase(connection.fd);
    }
  }

  void begin(Connection& connection, Request& request, const std::string& head) {
    std::array<char, 16> route{};
    std::array<char, PMTRACE_CONTEXT_SIZE> parent{};
    request = {.id = ++last_id};
    std::sscanf(head.c_str(), "GET /%15[^/]/%d", route.data(), &request.item);
    if (const char* header = ::strcasestr(head.c_str(), "\r\ntraceparent:"))
      std::sscanf(header, " %*s %55s", parent.data());
    request.parent = parent.data();
    // The route is a label from the begin, the status from the end. A label has few values: it is
    // neither the whole path nor whatever name a client invents.
    request.route = route.data();
    if (request.route != "search" && request.route != "price") request.route = "other";
    const Transaction tag{"request", {{"route", request.route}}};

    request.running = tag.begin_from(request.parent);
    request.running.note("id", request.id);
    request.running.detach();  // what this thread begins now is not inside of it
    request.queued = Clock::now();
    connection.is_in_pool = true;
    push(pool, &connection);
  }

  void finish(Connection& connection, Request& request) {
    if (reply(connection, request)) {
      request.running.label("status", request.status);
    } else {
      request.status = 0;
      if (request.failure.empty()) request.failure = "the client has gone";
    }
    if (!request.failure.empty()) request.running.fail(request.failure);
    request.running.end();
    std::fprintf(log, "%d\t%s\t%s\t%d\t%d\t%s\n", request.id, request.parent.c_str(),
                 request.route.c_str(), request.status, request.spans, request.failure.c_str());
    connection.is_in_pool = false;
    go_on(connection);
  }

  // Gives false if the client has gone. A socket has room for so short a reply.
  static bool reply(const Connection& connection, Request& request) {
    const Attached turn(request.running);
    const Running writing = begin_step(request, write_reply);
    if (connection.has_gone) return false;
    return ::dprintf(connection.fd, "HTTP/1.1 %d \r\nContent-Length: 0\r\n\r\n", request.status) >
           0;
  }
};

void find(Request& request) {
  static std::mutex index;
  const Running searching = begin_step(request, search);
  Running waiting = begin_step(request, index_lock);
  std::unique_lock lock(index);
  waiting.end();
  if (request.item % 40 == 0) pause(8);  // updates the index
  lock.unlock();
  Running reading = begin_step(request, search_index);
  const int rows = request.item == kSlowItem ? 6000 : request.item < 2900 ? request.item % 100 : 0;
  pause(1 + rows / 100);
  reading.note("rows", rows);
  if (rows > 0) request.status = 200;
}

void ask(Request& request, int backend) {
  Running asking = begin_step(request, ask_price);
  pollfd answer{.fd = connect_to(backend), .events = POLLIN, .revents = 0};
  ::dprintf(answer.fd, "%d %d %s\n", request.id, request.item, asking.headers().traceparent());
  ++request.spans;  // the backend's
  request.status = ::poll(&answer, 1, 30) == 1 ? 200 : 504;
  ::close(answer.fd);
  if (request.status == 200) return;
  request.failure = "no price in 30 ms";
  asking.fail(request.failure);
}

// Is on each thread of the pool, until a null comes.
void work(int loop, int backend) {
  while (Connection* const connection = pop(loop)) {
    Request& request = connection->request;
    {
      const Attached turn(request.running);
      pool_wait.begin({.since = request.queued}).note("id", request.id);
      ++request.spans;
      request.running.note("item", request.item);
      if (request.route == "search") find(request);
      if (request.route == "price") ask(request, backend);
    }
    push(loop, connection);
  }
}

// Is on each thread of the backend, until a connection without a question comes. One price in 25
// takes longer than the pool waits.
void answer(int listener) {
  for (ssize_t got = 1; got > 0;) {
    std::array<char, 100> text{};
    const int fd = must(::accept(listener, nullptr, nullptr), "accept");
    got = ::read(fd, text.data(), text.size() - 1);
    int id = 0;
    int item = 0;
    std::array<char, PMTRACE_CONTEXT_SIZE> parent{};
    if (got > 0 && std::sscanf(text.data(), "%d %d %55s", &id, &item, parent.data()) >= 2) {
      Running finding = find_price.begin_from(parent.data());
      finding.note("id", id);
      pause(item % 25 == 0 ? 45 : 2);
    }
    ::dprintf(fd, "%d\n", item);
    ::close(fd);
  }
}

// Waits for each reply, or hangs up. Half of the requests have begun elsewhere. The number of a
// request decides all about it, so each run has the same ones.
void be_client(int server, std::atomic<int>& left) {
  std::array<char, 100> text{};
  int fd = connect_to(server);
  for (int number = 0; (number = left--) > 0;) {
    std::mt19937_64 random(static_cast<unsigned>(number));
    const auto below = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
    const char* route = below(50) == 0 ? "favicon" : below(4) == 0 ? "price" : "search";
    const int item = *route == 's' && below(70) == 0 ? kSlowItem : below(3000);
    text = {""};
    if (below(2) == 0)
      std::snprintf(text.data(), text.size(), "Traceparent: 00-%016lx%016lx-%016lx-01\r\n",
                    random(), random(), random());
    ::dprintf(fd, "GET /%s/%d HTTP/1.1\r\n%s\r\n", route, item, text.data());
    if (below(300) == 0 || ::read(fd, text.data(), text.size()) <= 0) {
      ::close(fd);
      fd = connect_to(server);
    }
    pause(2 + below(20));
  }
  ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  std::atomic<int> left{argc > 1 ? std::atoi(argv[1]) : 0};
  std::FILE* const log = std::fopen(argc > 2 ? argv[2] : "/dev/null", "w");
  if (left <= 0 || argc > 3 || log == nullptr) {
    std::fputs("Usage: epoll_server REQUESTS [LOG]\n", stderr);
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  const int backend = make_listener();
  const pid_t child = must(::fork(), "fork");
  std::array<std::jthread, kThreads> pool;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // ends with the server, however that ends
    ::setenv("PCP_TRACE_SERVICE", "price_server", 0);
    for (std::jthread& each : pool) each = std::jthread(answer, backend);
    return 0;  // when they end
  }

  std::array<int, 2> ends{};  // the loop's and the pool's
  must(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), "socketpair");
  for (std::jthread& each : pool) each = std::jthread(work, ends[1], backend);
  EventLoop loop{make_listener(), ends[0], log};
  std::jthread looping(&EventLoop::run, &loop);
  std::array<std::jthread, kClients> clients;
  for (std::jthread& each : clients) each = std::jthread(be_client, loop.listener, std::ref(left));

  for (std::jthread& each : clients) each.join();
  push(ends[1], nullptr);
  looping.join();
  for (int i = 0; i < kThreads; ++i) {
    push(ends[0], nullptr);
    ::close(connect_to(backend));
  }
  for (std::jthread& each : pool) each.join();
  std::fclose(log);
  std::printf("served %d requests of %d clients\n", loop.last_id, loop.accepted);
  return ::waitpid(child, nullptr, 0) == child ? 0 : 1;
}
