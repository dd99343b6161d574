// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/server.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/http/json_value.h"
#include "runtime/settings/settings.h"
#include "tests/runtime/http/raw_client.h"
#include "tests/runtime/http/scripted_engine.h"

namespace larder::http {
namespace {

using test::RawClient;
using test::ScriptedEngine;
using test::WireAnswer;

const std::string kChat = R"({"messages":[{"role":"user","content":"hi"}]})";
const std::string kStreamedChat = R"({"messages":[{"role":"user","content":"hi"}],"stream":true})";

class ServerTest : public ::testing::Test {
 protected:
  void start() {
    engine_ = script_.open();
    script_.on_submit = [this](const auto&, const auto&) { return script_.answer({"Hel", "lo"}); };
    script_.on_verb = [](const auto&, const auto&) { return engine::VerbResult{}; };
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.limits.drain_ms = 1000;
    auto server = Server::start(*engine_, options);
    ASSERT_TRUE(server.ok()) << to_string(server.error());
    server_ = std::move(server).value();
    port_ = static_cast<std::uint16_t>(std::atoi(server_->address().c_str() + std::string("127.0.0.1:").size()));
    ASSERT_GT(port_, 0);
  }

  static std::string request(const std::string& method, const std::string& path, const std::string& body = "",
                             const std::string& key = ScriptedEngine::kAdminKey) {
    std::string out = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n";
    if (!key.empty()) out += "Authorization: Bearer " + key + "\r\n";
    if (method == "POST") out += "Content-Type: application/json\r\n";
    if (!body.empty()) out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return out + "\r\n" + body;
  }
  WireAnswer send(const std::string& bytes) {
    RawClient client(port_);
    client.send(bytes);
    return client.answer(bytes.substr(0, 5) == "HEAD ");
  }
  WireAnswer ask(const std::string& method, const std::string& path, const std::string& body = "",
                 const std::string& key = ScriptedEngine::kAdminKey) {
    return send(request(method, path, body, key));
  }

  ScriptedEngine script_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

TEST_F(ServerTest, OnlyTwoPathsAreOpenWithoutAKey) {
  start();
  EXPECT_EQ(ask("GET", "/", "", "").body, "Larder is running\n");
  EXPECT_EQ(ask("GET", "/healthz", "", "").status, 200);
  for (const char* path :
       {"/readyz", "/metrics", "/v1/models", "/v1/models/tiny", "/larder/v1/snapshot", "/larder/v1/tree",
        "/larder/v1/requests", "/larder/v1/keys", "/larder/v1/settings", "/nothing", "/healthz/x", "/%2e%2e/", "//",
        "/healthz%00"}) {
    EXPECT_EQ(ask("GET", path, "", "").status, 401) << path;
  }
  for (const char* path :
       {"/v1/chat/completions", "/v1/completions", "/larder/v1/pin", "/larder/v1/tenants", "/", "/healthz"}) {
    EXPECT_EQ(ask("POST", path, "{}", "").status, 401) << path;
  }
  EXPECT_TRUE(script_.requests.empty());
}

TEST_F(ServerTest, EveryBadKeyGetsTheSameAnswer) {
  start();
  const WireAnswer none = ask("GET", "/v1/models", "", "");
  EXPECT_TRUE(none.has("WWW-Authenticate: Bearer"));
  EXPECT_EQ(none.body.find("own words"), std::string::npos);
  for (const std::string key : {"x", "lk_admi", "lk_admin1", "LK_ADMIN", "lk_plain lk_admin"}) {
    const WireAnswer bad = ask("GET", "/v1/models", "", key);
    EXPECT_EQ(bad.status, 401);
    EXPECT_EQ(bad.head, none.head);
    EXPECT_EQ(bad.body, none.body);
  }
  EXPECT_EQ(send("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nx-api-key: lk_plain\r\n\r\n").status, 200);
}

TEST_F(ServerTest, KeylessLoopbackIsTheEnginesToAllow) {
  script_.keyless = true;
  start();
  EXPECT_EQ(ask("POST", "/v1/chat/completions", kChat, "").status, 200);
  EXPECT_EQ(script_.askers.at(0).tenant_name, "local");
  EXPECT_EQ(ask("GET", "/metrics", "", "").status, 403);
  EXPECT_EQ(ask("GET", "/v1/models", "", "wrong").status, 401);
}

TEST_F(ServerTest, WebPagesAndOtherHostsAreRefused) {
  start();
  EXPECT_EQ(send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
  const WireAnswer origin = send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n");
  EXPECT_EQ(origin.status, 403);
  EXPECT_FALSE(origin.has("Access-Control"));
  EXPECT_EQ(send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer lk_admin\r\n"
                 "Content-Type: text/plain\r\nContent-Length: " + std::to_string(kChat.size()) + "\r\n\r\n" + kChat)
                .status,
            415);
  EXPECT_TRUE(script_.requests.empty());
}

TEST_F(ServerTest, UnknownPathsAndMethodsAreNamed) {
  start();
  EXPECT_EQ(ask("GET", "/v1/nothing").status, 404);
  EXPECT_EQ(ask("GET", "/larder/v1").status, 404);
  EXPECT_EQ(ask("GET", "/larder/v1/tenants/1").status, 405);
  const WireAnswer wrong = ask("GET", "/v1/chat/completions");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_TRUE(wrong.has("Allow: POST"));
  EXPECT_EQ(ask("POST", "/larder/v1/snapshot", "{}").status, 405);
  const WireAnswer options = ask("OPTIONS", "/larder/v1/keys");
  EXPECT_EQ(options.status, 204);
  EXPECT_TRUE(options.has("Allow: GET, HEAD, POST"));
  EXPECT_EQ(ask("GET", "/larder/v1/requests/x").status, 404);
}

TEST_F(ServerTest, NoGetChangesAnything) {
  start();
  std::atomic<int> verbs{0};
  script_.on_verb = [&](const auto&, const auto&) {
    ++verbs;
    return engine::VerbResult{};
  };
  for (const char* path : {"/larder/v1/pin", "/larder/v1/unpin", "/larder/v1/delete", "/larder/v1/locate",
                           "/larder/v1/models/load", "/larder/v1/tenants/2", "/larder/v1/packs/a/warm",
                           "/larder/v1/requests/1/cancel", "/larder/v1/tenants", "/larder/v1/settings"}) {
    ask("GET", path);
    ask("HEAD", path);
  }
  EXPECT_EQ(verbs, 0);
}

TEST_F(ServerTest, AChatIsAnsweredWhole) {
  start();
  const WireAnswer answer = ask("POST", "/v1/chat/completions", kChat, ScriptedEngine::kPlainKey);
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.has("Content-Type: application/json"));
  EXPECT_NE(answer.body.find("\"content\":\"Hello\""), std::string::npos);
  EXPECT_NE(answer.body.find("\"cached_tokens\":4"), std::string::npos);
  EXPECT_EQ(script_.askers.at(0).tenant_name, "kids");
  EXPECT_FALSE(script_.streams.at(0)->cancelled());
}

TEST_F(ServerTest, AChatIsStreamed) {
  start();
  const WireAnswer answer = ask("POST", "/v1/chat/completions", kStreamedChat);
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.complete);
  EXPECT_TRUE(answer.has("Content-Type: text/event-stream"));
  EXPECT_NE(answer.body.find("\"delta\":{\"content\":\"Hel\"}"), std::string::npos);
  EXPECT_EQ(answer.body.substr(answer.body.size() - 14), "data: [DONE]\n\n");
}

TEST_F(ServerTest, ALongStreamArrivesWhole) {
  start();
  script_.on_submit = [this](const auto&, const auto&) { return script_.answer({"start"}, false); };
  RawClient client(port_);
  client.send(request("POST", "/v1/chat/completions", kStreamedChat));
  ASSERT_TRUE(client.fill_until("start"));
  const auto stream = script_.streams.at(0);
  std::thread writer([&] {
    for (int i = 0; i < 5000; ++i) {
      while (!stream->writable()) std::this_thread::yield();
      stream->write(engine::Piece{0, "tok", {}});
    }
    stream->write(engine::ChoiceDone{0, engine::FinishReason::kStop});
    stream->write(engine::Finished{});
  });
  const WireAnswer answer = client.answer();
  writer.join();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answer.body.find("\"tok\"", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 5000u);
  EXPECT_TRUE(answer.complete);
}

TEST_F(ServerTest, RequestsWithoutASeedGetDifferentOnes) {
  start();
  ask("POST", "/v1/chat/completions", kChat);
  ask("POST", "/v1/chat/completions", kChat);
  ask("POST", "/v1/completions", R"({"prompt":"x","seed":7})");
  EXPECT_NE(script_.requests.at(0).sampling.seed, script_.requests.at(1).sampling.seed);
  EXPECT_EQ(script_.requests.at(2).sampling.seed, 7u);
}

TEST_F(ServerTest, ARefusalHasItsStatusWhereverItComesFrom) {
  start();
  for (const std::string& body : {kChat, kStreamedChat}) {
    script_.on_submit = [](const auto&, const auto&) -> Result<std::shared_ptr<engine::TokenStream>> {
      return Error{ErrorCode::kResourceExhausted, "the queue is full", ""};
    };
    const WireAnswer full = ask("POST", "/v1/chat/completions", body);
    EXPECT_EQ(full.status, 429);
    EXPECT_TRUE(full.has("Retry-After:"));
    script_.on_submit = [](const auto&, const auto&) -> Result<std::shared_ptr<engine::TokenStream>> {
      auto stream = std::make_shared<engine::TokenStream>(RequestId{1});
      stream->write(Error{ErrorCode::kInvalidArgument, "1,002 tokens are more than 784", "context_length_exceeded"});
      return stream;
    };
    const WireAnswer longer = ask("POST", "/v1/chat/completions", body);
    EXPECT_EQ(longer.status, 400);
    EXPECT_NE(longer.body.find("\"code\":\"context_length_exceeded\""), std::string::npos);
  }
  const WireAnswer fault = ask("POST", "/v1/chat/completions", R"({"messages":[{"role":"user","content":1}]})");
  EXPECT_EQ(fault.status, 400);
  EXPECT_NE(fault.body.find("\"param\":\"messages[0].content\""), std::string::npos);
}

TEST_F(ServerTest, AnErrorInTheMiddleOfAStreamIsSaidAndEndsIt) {
  start();
  script_.on_submit = [this](const auto&, const auto&) {
    auto stream = script_.answer({"a"}, false);
    (*stream)->write(Error{ErrorCode::kDevice, "the device failed", ""});
    return stream;
  };
  const WireAnswer answer = ask("POST", "/v1/chat/completions", kStreamedChat);
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.complete);
  EXPECT_NE(answer.body.find("data: {\"error\":"), std::string::npos);
  EXPECT_EQ(answer.body.find("[DONE]"), std::string::npos);
}

TEST_F(ServerTest, AClientThatLeavesCancelsItsRequest) {
  start();
  script_.on_submit = [this](const auto&, const auto&) { return script_.answer({"a"}, false); };
  {
    RawClient streamed(port_);
    streamed.send(request("POST", "/v1/chat/completions", kStreamedChat));
    ASSERT_TRUE(streamed.fill_until("\"a\""));
  }
  EXPECT_TRUE(script_.wait_cancelled(0));
  RawClient whole(port_);
  whole.send(request("POST", "/v1/chat/completions", kChat));
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  while (true) {
    std::lock_guard lock(script_.mutex);
    if (script_.streams.size() == 2) break;
  }
  whole.reset();
  EXPECT_TRUE(script_.wait_cancelled(1));
}

TEST_F(ServerTest, VerbsAreRunAndTheirResultPrinted) {
  start();
  script_.on_verb = [](const engine::Principal& who, const engine::Verb& verb) -> Result<engine::VerbResult> {
    if (!who.admin) return Error{ErrorCode::kForbidden, "only an admin may", ""};
    const auto* pin = std::get_if<engine::PinNode>(&verb);
    if (!pin) return Error{ErrorCode::kNotFound, "no such run", ""};
    engine::VerbResult result;
    result.pin = PinId{12};
    result.detail = pin->reason;
    return result;
  };
  const WireAnswer pinned = ask("POST", "/larder/v1/pin", R"({"node":3,"reason":"family"})");
  EXPECT_EQ(pinned.status, 200);
  EXPECT_NE(pinned.body.find("\"pin\":12"), std::string::npos);
  EXPECT_NE(pinned.body.find("\"detail\":\"family\""), std::string::npos);
  EXPECT_EQ(ask("POST", "/larder/v1/pin", R"({"node":3})", ScriptedEngine::kPlainKey).status, 403);
  EXPECT_EQ(ask("POST", "/larder/v1/delete", R"({"node":3})").status, 404);
  EXPECT_EQ(ask("DELETE", "/larder/v1/keys/9").status, 404);
  EXPECT_EQ(ask("POST", "/larder/v1/pin", "{}").status, 400);
  EXPECT_EQ(ask("POST", "/larder/v1/requests/4/cancel").status, 404);
}

TEST_F(ServerTest, ReadsShowTheSnapshotAsTheEngineGivesIt) {
  script_.snapshot.epoch = 5;
  script_.snapshot.models.push_back({});
  script_.snapshot.models.back().name = "tiny model/1";
  script_.snapshot.models.back().state = engine::ModelInfo::State::kReady;
  script_.snapshot.requests.push_back({});
  script_.snapshot.requests.back().id = RequestId{8};
  start();
  const WireAnswer delta = ask("GET", "/larder/v1/snapshot?since=3");
  EXPECT_NE(delta.body.find("\"epoch\":5,\"since\":3"), std::string::npos);
  EXPECT_EQ(ask("GET", "/larder/v1/snapshot?since=x").status, 400);
  for (const char* name : {"tree", "requests", "tenants", "keys", "pins", "entries", "packs", "models"}) {
    const WireAnswer part = ask("GET", "/larder/v1/" + std::string(name));
    EXPECT_EQ(part.status, 200) << name;
    EXPECT_TRUE(parse_json(part.body, JsonLimits{}).ok()) << name;
  }
  EXPECT_EQ(ask("GET", "/larder/v1/requests/8").status, 200);
  EXPECT_EQ(ask("GET", "/larder/v1/requests/9").status, 404);
  EXPECT_NE(ask("GET", "/v1/models").body.find("tiny model/1"), std::string::npos);
  EXPECT_EQ(ask("GET", "/v1/models/tiny%20model%2F1").status, 200);
  EXPECT_EQ(ask("GET", "/v1/models/other").status, 404);
  EXPECT_EQ(ask("GET", "/larder/v1/settings").status, 200);
  EXPECT_EQ(ask("GET", "/larder/v1/settings", "", ScriptedEngine::kPlainKey).status, 403);
  EXPECT_EQ(ask("GET", "/larder/v1/keys", "", ScriptedEngine::kPlainKey).status, 403);
}

TEST_F(ServerTest, ASnapshotThatStaysOldIsShownAfterAWhile) {
  script_.stale_snapshot = true;
  start();
  EXPECT_EQ(ask("GET", "/larder/v1/tree").status, 200);
}

TEST_F(ServerTest, ReadinessFollowsTheModel) {
  start();
  EXPECT_EQ(ask("GET", "/readyz").status, 200);
  script_.is_ready = false;
  const WireAnswer loading = ask("GET", "/readyz");
  EXPECT_EQ(loading.status, 503);
  EXPECT_TRUE(loading.has("Retry-After:"));
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
  EXPECT_EQ(ask("GET", "/metrics").body, "larder_up 1\n");
  EXPECT_EQ(ask("GET", "/metrics", "", ScriptedEngine::kPlainKey).status, 403);
}

TEST_F(ServerTest, ListeningBeyondLoopbackNeedsTheSettingAndAKey) {
  engine_ = script_.open();
  ServerOptions options;
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    options.listen = address;
    options.lan = options.has_key = false;
    auto refused = Server::start(*engine_, options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
    EXPECT_NE(refused.error().message.find("api.lan"), std::string::npos);
    options.lan = true;
    refused = Server::start(*engine_, options);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("key"), std::string::npos);
  }
  options.listen = "0.0.0.0:0";
  options.has_key = true;
  EXPECT_TRUE(Server::start(*engine_, options).ok());
}

TEST_F(ServerTest, TheSettingsBecomeOptions) {
  const std::vector<std::pair<std::string, std::string>> overrides{
      {"api.listen", "127.0.0.1:0"},
      {"api.allowed_hosts", "NAS  nas.home"},
      {"api.allowed_origins", "https://chat.home"},
      {"api.max_depth", "12"},
      {"api.write_timeout_ms", "1234"}};
  const auto settings = settings::Settings::load("", overrides);
  ASSERT_TRUE(settings.ok());
  const ServerOptions options = options_from(**settings);
  EXPECT_EQ(options.listen, "127.0.0.1:0");
  EXPECT_EQ(options.allowed_hosts, (std::vector<std::string>{"nas", "nas.home"}));
  EXPECT_EQ(options.allowed_origins, std::vector<std::string>{"https://chat.home"});
  EXPECT_EQ(options.limits.max_json_depth, 12u);
  EXPECT_EQ(options.limits.write_ms, 1234);
  EXPECT_FALSE(options.lan || options.has_key);
}

TEST_F(ServerTest, BadAddressesAreRefused) {
  engine_ = script_.open();
  ServerOptions options;
  for (const char* address : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
                              "::1:80", "[::1]", "host.example:80", "127.0.0.1:80x"}) {
    options.listen = address;
    options.lan = options.has_key = true;
    EXPECT_FALSE(Server::start(*engine_, options).ok()) << address;
  }
  options.listen = "localhost:0";
  EXPECT_TRUE(Server::start(*engine_, options).ok());
}

TEST_F(ServerTest, ATakenPortIsAConflict) {
  start();
  ServerOptions options;
  options.listen = server_->address();
  const auto second = Server::start(*engine_, options);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kConflict);
}

}  // namespace
}  // namespace larder::http
