// SPDX-License-Identifier: LGPL-2.1-or-later
// The stock of a pretend shop, which order_front.py asks through a socket:
//
//   order_stock SOCKET WORKER_SOCKET
//
// A question is a line, "TRACEPARENT ARTICLE", and the answer is "ok" or why not. Without a trace,
// TRACEPARENT is "-". The stock puts the same question to OrderWorker, in Java; the work there is
// part of its own. After each answer the stock prints what a begin and an end cost: within the work
// for a question, and beside that work.
#include <chrono>
#include <exception>
#include <iostream>
#include <pcp/trace.hpp>
#include <stdexcept>
#include <string>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>

namespace {

using asio::local::stream_protocol;
using Clock = std::chrono::steady_clock;

const pcp::trace::Transaction reserve{"reserve"};
const pcp::trace::Transaction add_up{"add-up"};
const pcp::trace::Transaction tick{"tick"};

// Nanoseconds of a begin and an end.
double cost_of(const pcp::trace::Transaction& tag, int times) {
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i) {
    auto running = tag.begin();
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / times;
}

struct Work {
  std::string answer;
  double cost = 0;  // of a transaction within it
};

// An exception aborts the transaction.
Work work(std::iostream& worker, const std::string& traceparent, const std::string& article) {
  Work done;
  auto running = reserve.begin_from(traceparent);
  cost_of(add_up, 1);  // only warms the caches
  done.cost = cost_of(add_up, 1);
  const auto headers = pcp::trace::current_headers();
  worker << (headers ? headers.traceparent() : "-") << ' ' << article << std::endl;
  if (!std::getline(worker, done.answer)) throw std::runtime_error("the worker has gone");
  if (done.answer != "ok") running.fail(done.answer);
  return done;
}

void serve(const std::string& path, const std::string& worker_path) {
  stream_protocol::iostream worker{stream_protocol::endpoint(worker_path)};
  if (!worker) throw std::runtime_error("no worker: " + worker.error().message());
  asio::io_context context;
  stream_protocol::acceptor acceptor(context, path);
  std::cout << "ready" << std::endl;
  stream_protocol::iostream front;
  acceptor.accept(front.socket());
  for (std::string traceparent, article; front >> traceparent >> article;) {
    const Work done = work(worker, traceparent, article);
    front << done.answer << std::endl;
    for (int i = 0; i < 25; ++i) std::cout << "beside " << cost_of(tick, 1000) << '\n';
    std::cout << "within " << done.cost << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "Usage: order_stock SOCKET WORKER_SOCKET\n";
    return 2;
  }
  try {
    serve(argv[1], argv[2]);
  } catch (const std::exception& problem) {
    std::cerr << "order_stock: " << problem.what() << '\n';
    return 1;
  }
}
