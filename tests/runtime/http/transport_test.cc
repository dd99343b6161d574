// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/transport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "runtime/http/errors.h"
#include "tests/runtime/http/raw_client.h"
#include "tests/runtime/http/scripted_source.h"

namespace larder::http {
namespace {

using namespace std::chrono_literals;
using test::RawClient;
using test::RetryingSource;
using test::Script;
using test::ScriptedSource;
using test::WireAnswer;

class TransportTest : public ::testing::Test {
 protected:
  void start(ServerLimits limits = {}) {
    limits.drain_ms = std::min<std::int64_t>(limits.drain_ms, 1500);
    TransportOptions options;
    options.limits = limits;
    Handlers handlers;
    handlers.screen = [](const RequestHead& head) -> std::optional<Answer> {
      if (head.path == "/refused") return error_answer({ErrorCode::kForbidden, "no", ""});
      return std::nullopt;
    };
    handlers.handle = [this](Request request) { return handle(std::move(request)); };
    auto transport = Transport::start(options, std::move(handlers));
    ASSERT_TRUE(transport.ok()) << to_string(transport.error());
    transport_ = std::move(transport).value();
  }

  Reply handle(Request request) {
    if (request.head.path == "/stream") return std::make_unique<ScriptedSource>(script_);
    if (request.head.path == "/retry") return std::make_unique<RetryingSource>();
    if (request.head.path == "/throw") throw std::runtime_error("planted");
    if (request.head.path == "/block") {
      std::unique_lock lock(script_->mutex);
      script_->changed.wait_for(lock, 20s, [&] { return script_->finish; });
    }
    Answer answer;
    answer.content_type = "text/plain";
    if (request.head.path == "/big") {
      answer.body = std::string(4 << 20, 'b');
    } else {
      answer.body = request.head.method + " " + request.head.path + " " + std::to_string(request.body.size()) + " " +
                    request.body.substr(0, 64);
    }
    return answer;
  }

  WireAnswer ask(const std::string& bytes) {
    RawClient client(transport_->port());
    client.send(bytes);
    return client.answer();
  }
  static std::string get(const std::string& path, const std::string& more = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
  }
  static std::string post(const std::string& path, const std::string& body) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<Transport> transport_;
};

TEST_F(TransportTest, AnswersSeveralRequestsOnOneConnection) {
  start();
  RawClient client(transport_->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.send(post("/echo", "hello")));
    const WireAnswer answer = client.answer();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "POST /echo 5 hello");
    EXPECT_TRUE(answer.has("Connection: keep-alive"));
  }
}

TEST_F(TransportTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  RawClient client(transport_->port());
  std::string all;
  for (int i = 0; i < 50; ++i) all += post("/p" + std::to_string(i), "body");
  ASSERT_TRUE(client.send(all));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.answer().body, "POST /p" + std::to_string(i) + " 4 body");
}

TEST_F(TransportTest, ARequestSentWhileAnAnswerStreamsIsAnsweredAfterIt) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send(get("/stream") + get("/echo")));
  ASSERT_TRUE(script_->wait(&Script::started));
  script_->say("one ");
  ASSERT_TRUE(client.fill_until("one "));
  script_->say("two", true);
  const WireAnswer streamed = client.answer();
  EXPECT_EQ(streamed.body, "one two");
  EXPECT_TRUE(streamed.complete);
  EXPECT_EQ(client.answer().body, "GET /echo 0 ");
}

TEST_F(TransportTest, ARequestHalfSentWhileAnAnswerStreamsIsReadWhole) {
  start();
  RawClient client(transport_->port());
  const std::string next = post("/echo", "the body comes later");
  const std::size_t body_at = next.find("the body");
  ASSERT_TRUE(client.send(get("/stream")));
  ASSERT_TRUE(script_->wait(&Script::started));
  ASSERT_TRUE(client.send(next.substr(0, body_at)));
  EXPECT_EQ(ask(get("/echo")).status, 200);  // by now the half was read too
  script_->say("done", true);
  EXPECT_EQ(client.answer().body, "done");
  ASSERT_TRUE(client.send(next.substr(body_at)));
  EXPECT_EQ(client.answer().body, "POST /echo 20 the body comes later");
}

TEST_F(TransportTest, HeadAnswersCarryTheLengthAndNoBody) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send("HEAD /echo HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/echo")));
  const WireAnswer head = client.answer(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.has("Content-Length: 13\r\n")) << head.head;
  EXPECT_EQ(client.answer().body, "GET /echo 0 ");
}

TEST_F(TransportTest, HttpOneZeroIsAnsweredAndClosed) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send("GET /stream HTTP/1.0\r\nHost: localhost\r\n\r\n"));
  ASSERT_TRUE(script_->wait(&Script::started));
  script_->say("part");
  ASSERT_TRUE(client.fill_until("part"));
  script_->say("", true);  // an end without bytes of its own
  const WireAnswer answer = client.answer();
  EXPECT_EQ(answer.body, "part");
  EXPECT_TRUE(answer.complete);
  EXPECT_FALSE(answer.has("chunked"));
  EXPECT_TRUE(answer.has("Connection: close"));
}

TEST_F(TransportTest, MalformedRequestsGetTheirStatus) {
  ServerLimits limits;
  limits.max_header_bytes = 4096;
  limits.max_headers = 20;
  limits.max_target_bytes = 1024;
  limits.max_body_bytes = 1000;
  start(limits);
  std::string many;
  for (int i = 0; i < 25; ++i) many += "X-H" + std::to_string(i) + ": 1\r\n";
  EXPECT_EQ(ask("nonsense\r\n\r\n").status, 400);
  EXPECT_EQ(ask("GET / HTTP/2.0\r\nHost: localhost\r\n\r\n").status, 505);
  EXPECT_EQ(ask("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 400);
  EXPECT_EQ(ask(get("/x", "Expect: cake\r\n")).status, 417);
  EXPECT_EQ(ask(get("/x", "X: " + std::string(5000, 'h') + "\r\n")).status, 431);
  EXPECT_EQ(ask(get("/x", many)).status, 431);
  EXPECT_EQ(ask(get("/" + std::string(1024, 'p'))).status, 414);
  EXPECT_EQ(ask(get("/" + std::string(1023, 'p'))).status, 200);
  EXPECT_EQ(ask(post("/x", std::string(1001, 'b'))).status, 413);
  EXPECT_EQ(ask(post("/x", std::string(1000, 'b'))).status, 200);
  EXPECT_EQ(ask("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n").status, 400);
  EXPECT_EQ(ask("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n").status, 400);
  const std::string both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  EXPECT_EQ(ask("POST /x HTTP/1.1\r\nHost: a\r\n" + both).status, 400);
  EXPECT_EQ(ask("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n").status, 400);
}

TEST_F(TransportTest, ChunkedBodiesAreReadAndBounded) {
  ServerLimits limits;
  limits.max_body_bytes = 1000;
  start(limits);
  const std::string head = "POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(ask(head + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n").body, "POST /x 11 hello world");
  std::string long_body = head;
  for (int i = 0; i < 20; ++i) long_body += "40\r\n" + std::string(64, 'c') + "\r\n";
  EXPECT_EQ(ask(long_body + "0\r\n\r\n").status, 413);
}

TEST_F(TransportTest, ARefusalArrivesThoughTheBodyIsStillBeingSent) {
  ServerLimits limits;
  limits.max_body_bytes = 1000;
  start(limits);
  const WireAnswer answer = ask(post("/x", std::string(3 << 20, 'b')));
  EXPECT_EQ(answer.status, 413);
  EXPECT_TRUE(answer.complete);
  EXPECT_TRUE(answer.has("Connection: close"));
}

TEST_F(TransportTest, ExpectContinueIsAnsweredBeforeTheBody) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send("POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"));
  EXPECT_EQ(client.answer().status, 100);
  ASSERT_TRUE(client.send("ok"));
  EXPECT_EQ(client.answer().body, "POST /x 2 ok");
}

TEST_F(TransportTest, AScreenedRequestIsRefusedBeforeItsBody) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send("POST /refused HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"));
  EXPECT_EQ(client.answer().status, 403);
  EXPECT_TRUE(client.ended());
}

TEST_F(TransportTest, SlowHeadersAndBodiesAreCutOffInTotal) {
  ServerLimits limits;
  limits.header_ms = 200;
  limits.body_ms = 200;
  start(limits);
  RawClient header(transport_->port());
  RawClient body(transport_->port());
  RawClient silent(transport_->port());
  ASSERT_TRUE(header.send("GET / HT"));
  ASSERT_TRUE(body.send("POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc"));
  body.trickle_until_answered();  // a byte now and then must not buy more time
  EXPECT_EQ(header.answer().status, 408);
  EXPECT_EQ(body.answer().status, 408);
  EXPECT_TRUE(silent.ended());
  EXPECT_EQ(silent.received(), "");
}

TEST_F(TransportTest, AnIdleConnectionIsClosed) {
  ServerLimits limits;
  limits.idle_ms = 100;
  start(limits);
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send(get("/echo")));
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(client.ended());
}

TEST_F(TransportTest, AClientThatLeavesEndsItsAnswerAtOnce) {
  start();
  for (const int way : {0, 1, 2}) {
    script_ = std::make_shared<Script>();
    RawClient client(transport_->port());
    ASSERT_TRUE(client.send(get("/stream")));
    ASSERT_TRUE(script_->wait(&Script::started));
    if (way == 1) {
      script_->say("token");
      ASSERT_TRUE(client.fill_until("token"));
    }
    const auto before = std::chrono::steady_clock::now();
    if (way == 0) client.close();
    if (way == 1) client.close_sending();
    if (way == 2) client.reset();
    EXPECT_TRUE(script_->wait(&Script::destroyed));
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  }
}

TEST_F(TransportTest, AHalfClosedClientStillGetsAnAnswerThatIsWhole) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send(get("/big")));
  client.close_sending();
  const WireAnswer answer = client.answer();
  EXPECT_TRUE(answer.complete);
  EXPECT_EQ(answer.body.size(), std::size_t{4} << 20);
}

TEST_F(TransportTest, AReaderThatStopsPausesItsSourceAndIsCutOff) {
  ServerLimits limits;
  limits.write_ms = 400;
  start(limits);
  script_->endless = true;
  RawClient client(transport_->port(), 4096);
  ASSERT_TRUE(client.send(get("/stream")));
  ASSERT_TRUE(script_->wait(&Script::destroyed));
  EXPECT_GT(script_->pulled_bytes, std::size_t{4096});
  EXPECT_LT(script_->pulled_bytes, std::size_t{4} << 20);
}

TEST_F(TransportTest, SilenceInAStreamIsFilledWithPings) {
  ServerLimits limits;
  limits.ping_ms = 50;
  start(limits);
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send(get("/stream")));
  ASSERT_TRUE(client.fill_until(": ping\n\n"));
  script_->say("end", true);
  EXPECT_TRUE(client.answer().complete);
}

TEST_F(TransportTest, ASourceMayAskToBePulledLater) {
  start();
  EXPECT_EQ(ask(get("/retry")).body, "third");
}

TEST_F(TransportTest, AHandlersExceptionEndsThatRequestOnly) {
  start();
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send(get("/throw")));
  EXPECT_EQ(client.answer().status, 500);
  ASSERT_TRUE(client.send(get("/echo")));
  EXPECT_EQ(client.answer().status, 200);
}

TEST_F(TransportTest, ALargeBodyBeingHandledDelaysNobodyElse) {
  start();
  RawClient large(transport_->port());
  ASSERT_TRUE(large.send(post("/block", std::string(100'000, 'l'))));
  EXPECT_EQ(ask(get("/echo")).status, 200);
  script_->say("", true);
  script_->changed.notify_all();
  EXPECT_EQ(large.answer().status, 200);
}

TEST_F(TransportTest, TooManyBodiesAtOnceAreTurnedAway) {
  ServerLimits limits;
  limits.max_bodies_bytes = 1500;
  start(limits);
  RawClient first(transport_->port());
  ASSERT_TRUE(first.send("POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n"));
  ASSERT_EQ(first.answer().status, 100);  // its body is reserved now
  const WireAnswer second = ask(post("/x", std::string(1000, 'b')));
  EXPECT_EQ(second.status, 503);
  EXPECT_TRUE(second.has("Retry-After:"));
  ASSERT_TRUE(first.send(std::string(1000, 'b')));
  EXPECT_EQ(first.answer().status, 200);
  EXPECT_EQ(ask(post("/x", std::string(1000, 'b'))).status, 200);
}

TEST_F(TransportTest, OneConnectionTooManyIsToldToComeBack) {
  ServerLimits limits;
  limits.max_connections = 4;
  start(limits);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<RawClient>(transport_->port()));
    clients.back()->send(get("/echo"));
    EXPECT_EQ(clients.back()->answer().status, 200);
  }
  const WireAnswer refused = ask(get("/echo"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  for (auto& client : clients) {
    client->send(get("/echo"));
    EXPECT_EQ(client->answer().status, 200);
  }
}

TEST_F(TransportTest, TwoHundredParallelClientsAreAllServed) {
  start();
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      std::vector<std::unique_ptr<RawClient>> clients;
      for (int i = 0; i < 25; ++i) clients.push_back(std::make_unique<RawClient>(transport_->port()));
      for (int round = 0; round < 4; ++round) {
        for (auto& client : clients) client->send(post("/echo", "hello"));
        for (auto& client : clients) good += client->answer().body == "POST /echo 5 hello";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 800);
}

TEST_F(TransportTest, StopLetsAnAnswerUnderWayEnd) {
  start();
  RawClient client(transport_->port());
  RawClient idle(transport_->port());
  ASSERT_TRUE(client.send(get("/stream")));
  ASSERT_TRUE(script_->wait(&Script::started));
  std::thread stopper([&] { transport_->stop(); });
  EXPECT_TRUE(idle.ended());
  script_->say("last words", true);
  const WireAnswer answer = client.answer();
  EXPECT_EQ(answer.body, "last words");
  EXPECT_TRUE(answer.complete);
  client.close();
  stopper.join();
  EXPECT_EQ(transport_->connections(), 0u);
}

TEST_F(TransportTest, StopCutsOffWhatDoesNotEnd) {
  ServerLimits limits;
  limits.drain_ms = 100;
  start(limits);
  RawClient client(transport_->port());
  ASSERT_TRUE(client.send(get("/stream")));
  ASSERT_TRUE(script_->wait(&Script::started));
  transport_->stop();
  EXPECT_TRUE(script_->destroyed);
  EXPECT_TRUE(client.ended());
  script_->say("late");  // a wake after the end reaches nobody
}

TEST_F(TransportTest, ATakenPortIsNamed) {
  start();
  TransportOptions options;
  options.port = transport_->port();
  const auto second = Transport::start(options, Handlers{});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
  options.address = "not an address";
  const auto third = Transport::start(options, Handlers{});
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace larder::http
