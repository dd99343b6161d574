// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "runtime/http/control_answer.h"
#include "runtime/http/json_value.h"
#include "runtime/http/openai_answer.h"
#include "runtime/http/verdict_text.h"

namespace larder::http {
namespace {

using engine::FinishReason;

JsonValue json(const std::string& text) {
  Result<JsonValue> value = parse_json(text, JsonLimits{});
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : JsonValue{};
}

const JsonValue& member(const JsonValue& value, const std::vector<std::string>& path) {
  static const JsonValue kNothing;
  const JsonValue* at = &value;
  for (const std::string& name : path) {
    if (at->is(JsonValue::Type::kArray)) {
      const auto index = static_cast<std::size_t>(std::stoul(name));
      at = index < at->items.size() ? &at->items[index] : &kNothing;
    } else {
      const JsonValue* next = at->find(name);
      at = next ? next : &kNothing;
    }
  }
  return *at;
}

engine::Started started() {
  engine::Started event;
  event.request = RequestId{5127};
  event.model = "tiny";
  event.sections = {{SectionKind::kSystem, "system", 0, 10, 0, 5},
                    {SectionKind::kMessage, "user message 1", 10, 20, 5, 9}};
  return event;
}

engine::Finished finished() {
  engine::Finished event;
  event.usage = {2018, 1998, 3};
  event.verdict.kind = kv::VerdictKind::kFullPrefix;
  event.verdict.prompt_tokens = 2018;
  event.verdict.reused_tokens = 1998;
  event.verdict.computed_tokens = 20;
  event.verdict.saved_ms = 5400;
  event.verdict.tier = "host";
  return event;
}

AnswerShape shape(bool chat = true) {
  AnswerShape s;
  s.chat = chat;
  s.created_s = 1'700'000'000;
  return s;
}

std::string stream(AnswerShape s, const std::vector<engine::StreamEvent>& events) {
  StreamCodec codec(std::move(s));
  std::string out;
  for (const auto& event : events) out += codec.on(event);
  EXPECT_TRUE(codec.done());
  return out;
}

std::vector<std::string> data_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find("\n\n", at);
    EXPECT_NE(end, std::string::npos);
    EXPECT_EQ(text.substr(at, 6), "data: ");
    lines.push_back(text.substr(at + 6, end - at - 6));
    at = end + 2;
  }
  return lines;
}

TEST(StreamAnswer, AChatHasTheShapeOfOpenAi) {
  AnswerShape s = shape();
  s.include_usage = true;
  const auto lines = data_lines(stream(s, {started(), engine::Piece{0, "Hé", {}}, engine::Piece{0, "llo\n", {}},
                                           engine::ChoiceDone{0, FinishReason::kStop}, finished()}));
  ASSERT_EQ(lines.size(), 6u);
  const std::string top = R"({"id":"chatcmpl-6553f100-5127","object":"chat.completion.chunk","created":1700000000,)"
                          R"("model":"tiny","choices":[{"index":0,"delta":)";
  const std::string rest = R"(,"logprobs":null,"finish_reason":null}],"usage":null})";
  EXPECT_EQ(lines[0], top + R"({"role":"assistant","content":""})" + rest);
  EXPECT_EQ(lines[1], top + R"({"content":"Hé"})" + rest);
  EXPECT_EQ(lines[2], top + R"({"content":"llo\n"})" + rest);
  EXPECT_EQ(lines[3], top + R"({},"logprobs":null,"finish_reason":"stop"}],"usage":null})");
  const JsonValue last = json(lines[4]);
  EXPECT_TRUE(member(last, {"choices"}).is(JsonValue::Type::kArray) && member(last, {"choices"}).items.empty());
  EXPECT_EQ(member(last, {"usage", "total_tokens"}).integer, 2021);
  EXPECT_EQ(member(last, {"usage", "prompt_tokens_details", "cached_tokens"}).integer, 1998);
  EXPECT_EQ(member(last, {"larder", "verdict"}).text, "full_prefix");
  EXPECT_EQ(member(last, {"larder", "request"}).integer, 5127);
  EXPECT_EQ(lines[5], "[DONE]");
}

TEST(StreamAnswer, WithoutUsageTheLastChunkCarriesTheVerdict) {
  const auto lines = data_lines(stream(
      shape(), {started(), engine::Piece{0, "x", {}}, engine::ChoiceDone{0, FinishReason::kLength}, finished()}));
  ASSERT_EQ(lines.size(), 4u);
  const JsonValue last = json(lines[2]);
  EXPECT_EQ(member(last, {"choices", "0", "finish_reason"}).text, "length");
  EXPECT_EQ(member(last, {"larder", "saved_ms"}).number, 5400);
  EXPECT_EQ(last.find("usage"), nullptr);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(json(lines[static_cast<std::size_t>(i)]).find("larder"), nullptr);
}

TEST(StreamAnswer, EveryChoiceEndsOnceAndStartsWithItsRole) {
  AnswerShape s = shape();
  s.choices = 2;
  const auto lines = data_lines(stream(
      s, {started(), engine::Piece{1, "b", {}}, engine::Piece{0, "a", {}}, engine::ChoiceDone{0, FinishReason::kStop},
          engine::ChoiceDone{1, FinishReason::kStop}, finished()}));
  std::vector<int> roles(2), ends(2);
  for (const std::string& line : lines) {
    if (line == "[DONE]") continue;
    const JsonValue choice = member(json(line), {"choices", "0"});
    const auto index = static_cast<std::size_t>(member(choice, {"index"}).integer);
    roles[index] += choice.find("delta")->find("role") != nullptr;
    ends[index] += choice.find("finish_reason") != nullptr;
  }
  EXPECT_EQ(roles, (std::vector<int>{1, 1}));
  EXPECT_EQ(ends, (std::vector<int>{1, 1}));
}

TEST(StreamAnswer, AnEmptyAnswerStillHasARoleAndAnEnd) {
  const auto lines = data_lines(stream(shape(), {started(), engine::ChoiceDone{0, FinishReason::kStop}, finished()}));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("\"role\":\"assistant\""), std::string::npos);
}

TEST(StreamAnswer, AnErrorInTheMiddleIsADataLineAndTheEnd) {
  const auto lines = data_lines(
      stream(shape(), {started(), engine::Piece{0, "x", {}}, Error{ErrorCode::kDevice, "the device failed", ""}}));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[2],
            R"({"error":{"message":"the device failed","type":"server_error","param":null,"code":"device"}})");
}

TEST(StreamAnswer, ACancelledAnswerIsNotPassedOffAsComplete) {
  const auto lines = data_lines(stream(
      shape(), {started(), engine::Piece{0, "x", {}}, engine::ChoiceDone{0, FinishReason::kCancelled}, finished()}));
  EXPECT_NE(lines.back().find("\"code\":\"cancelled\""), std::string::npos);
}

TEST(StreamAnswer, ChatLogprobsCarryTheTokensOwnBytes) {
  AnswerShape s = shape();
  s.logprobs = true;
  const auto lines = data_lines(
      stream(s, {started(), engine::Piece{0, "", {{7, "\xF0\x9F", -0.5f, {{"\xF0\x9F", -0.5f}, {"a", -INFINITY}}}}},
                 engine::ChoiceDone{0, FinishReason::kStop}, finished()}));
  const JsonValue token = member(json(lines[1]), {"choices", "0", "logprobs", "content", "0"});
  EXPECT_EQ(member(token, {"bytes"}).items.size(), 2u);
  EXPECT_EQ(member(token, {"bytes", "1"}).integer, 0x9F);
  EXPECT_EQ(member(token, {"token"}).text, "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(member(token, {"top_logprobs", "1", "logprob"}).number, -9999.0);
}

TEST(StreamAnswer, PlainCompletionsStreamTextAndEchoFirst) {
  AnswerShape s = shape(false);
  s.echo = true;
  s.echo_text = "Once";
  const auto lines = data_lines(
      stream(s, {started(), engine::Piece{0, " upon", {}}, engine::ChoiceDone{0, FinishReason::kLength}, finished()}));
  std::string text;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(member(json(lines[i]), {"object"}).text, "text_completion");
    text += member(json(lines[i]), {"choices", "0", "text"}).text;
  }
  EXPECT_EQ(text, "Once upon");
}

std::string whole(AnswerShape s, const std::vector<engine::StreamEvent>& events) {
  WholeCodec codec(std::move(s));
  for (const auto& event : events) {
    if (auto text = codec.on(event)) return text->ok() ? std::move(*text).value() : "error " + text->error().message;
  }
  return "unfinished";
}

TEST(WholeAnswer, AChatHasTheShapeOfOpenAi) {
  const std::string text =
      whole(shape(), {started(), engine::Piece{0, "Hé", {}}, engine::Piece{0, "llo", {}},
                      engine::ChoiceDone{0, FinishReason::kStop}, finished()});
  EXPECT_EQ(text.substr(0, text.find(",\"larder\"")),
            R"({"id":"chatcmpl-6553f100-5127","object":"chat.completion","created":1700000000,"model":"tiny",)"
            R"("choices":[{"index":0,"message":{"role":"assistant","content":"Héllo","refusal":null},"logprobs":null,)"
            R"("finish_reason":"stop"}],"usage":{"prompt_tokens":2018,"completion_tokens":3,"total_tokens":2021,)"
            R"("prompt_tokens_details":{"cached_tokens":1998}})");
  const JsonValue larder = member(json(text), {"larder"});
  EXPECT_EQ(member(larder, {"tier"}).text, "host");
  EXPECT_EQ(member(larder, {"sentence"}).text,
            "Everything before the last message was already here. 1,998 of 2,018 tokens were reused, 20 computed; that "
            "saved about 5.4 s.");
}

TEST(WholeAnswer, EchoWithLogprobsScoresThePromptButItsFirstToken) {
  AnswerShape s = shape(false);
  s.echo = true;
  s.logprobs = true;
  engine::Finished end = finished();
  end.prompt_logprobs = {{1, "On", 0, {}}, {2, "ce", -1.5f, {{"ce", -1.5f}}}};
  const JsonValue answer = json(whole(
      s, {started(), engine::Piece{0, " x", {{3, " x", -0.25f, {{" x", -0.25f}}}}},
          engine::ChoiceDone{0, FinishReason::kStop}, end}));
  const JsonValue choice = member(answer, {"choices", "0"});
  EXPECT_EQ(member(choice, {"text"}).text, "Once x");
  const JsonValue lp = member(choice, {"logprobs"});
  EXPECT_EQ(member(lp, {"tokens"}).items.size(), 3u);
  EXPECT_TRUE(member(lp, {"token_logprobs", "0"}).is(JsonValue::Type::kNull));
  EXPECT_EQ(member(lp, {"token_logprobs", "1"}).number, -1.5);
  EXPECT_EQ(member(lp, {"top_logprobs", "2", " x"}).number, -0.25);
  EXPECT_EQ(member(lp, {"text_offset", "2"}).integer, 4);
}

TEST(WholeAnswer, EchoOfTokenIdsPutsCharactersTogetherAgain) {
  AnswerShape s = shape(false);
  s.echo = s.logprobs = true;
  engine::Finished end = finished();
  end.prompt_logprobs = {{1, "a\xC3", 0, {}}, {2, "\xA8", -1.5f, {{"\xA8", -1.5f}, {"\xA9", -2.0f}}}};
  const JsonValue choice =
      member(json(whole(s, {started(), engine::ChoiceDone{0, FinishReason::kStop}, end})), {"choices", "0"});
  EXPECT_EQ(member(choice, {"text"}).text, "aè");
  EXPECT_EQ(member(choice, {"logprobs", "top_logprobs", "1"}).members.size(), 1u) << "both are written as U+FFFD";
}

TEST(WholeAnswer, EchoWithoutNewTextIsThePromptAndLength) {
  AnswerShape s = shape(false);
  s.echo = s.no_new_text = true;
  s.echo_text = "Once";
  const JsonValue answer = json(
      whole(s, {started(), engine::Piece{0, "?", {}}, engine::ChoiceDone{0, FinishReason::kStop}, finished()}));
  EXPECT_EQ(member(answer, {"choices", "0", "text"}).text, "Once");
  EXPECT_EQ(member(answer, {"choices", "0", "finish_reason"}).text, "length");
  EXPECT_EQ(member(answer, {"usage", "completion_tokens"}).integer, 0);
}

TEST(WholeAnswer, ErrorsAndCancellationAreErrors) {
  EXPECT_EQ(whole(shape(), {Error{ErrorCode::kResourceExhausted, "queue full", ""}}), "error queue full");
  EXPECT_EQ(whole(shape(), {started(), engine::ChoiceDone{0, FinishReason::kCancelled}, finished()}).substr(0, 5),
            "error");
}

TEST(VerdictSentence, EveryKindSaysWhyAndWhat) {
  const auto sections = started().sections;
  kv::Verdict v;
  v.prompt_tokens = 2018;
  v.computed_tokens = 2018;
  EXPECT_EQ(verdict_sentence(v, sections), "Nothing cached starts like this prompt. All 2,018 tokens were computed.");
  v.kind = kv::VerdictKind::kDiverged;
  v.reused_tokens = 6;
  v.computed_tokens = 2012;
  v.divergence = kv::Divergence{};
  v.divergence->token = 6;
  v.divergence->section = 1;
  v.divergence->cached = 3;
  v.divergence->cached_by = RequestId{5};
  v.divergence->equal_after = 1900;
  EXPECT_EQ(verdict_sentence(v, sections),
            "The prompt equals a cached one up to token 6, in section 'user message 1'; another one follows there "
            "(cached by request #5). After the difference 1,900 tokens are equal again: moving the changing part to "
            "the end would let them be reused. 6 of 2,018 tokens were reused, 2,012 computed.");
  v.divergence->cached = -1;
  v.divergence->section = 99;
  EXPECT_EQ(verdict_sentence(v, sections),
            "What is cached ends at token 6; the rest is new. 6 of 2,018 tokens were reused, 2,012 computed.");
  v = {};
  v.kind = kv::VerdictKind::kEvicted;
  v.prompt_tokens = v.computed_tokens = 1;
  v.eviction = kv::Eviction{1'700'000'000'000, RequestId{7}, TenantId{3}, "lru", 1000, 0};
  EXPECT_EQ(verdict_sentence(v, sections),
            "1,000 tokens of this prompt were cached but gave way at 2023-11-14 22:13:20 UTC to request #7 of tenant 3 "
            "(lru). Its one token was computed.");
  v.eviction.reset();
  EXPECT_EQ(verdict_sentence(v, sections).substr(0, 51), "The start of this prompt was cached but gave way. I");
  v.kind = kv::VerdictKind::kOtherIdentity;
  v.identity_part = "weights";
  EXPECT_NE(verdict_sentence(v, sections).find("another model file"), std::string::npos);
  v.kind = kv::VerdictKind::kTooShort;
  EXPECT_NE(verdict_sentence(v, sections).find("shorter"), std::string::npos);
  v.kind = kv::VerdictKind::kBypassed;
  EXPECT_NE(verdict_sentence(v, sections).find("asked for no reuse"), std::string::npos);
}

TEST(VerdictSentence, WhatTheDiskGaveAndWhatItDidNotIsSaidWithItsNumbers) {
  kv::Verdict v;
  v.kind = kv::VerdictKind::kFullPrefix;
  v.prompt_tokens = v.reused_tokens = 2000;
  v.restored.tier = "disk";
  v.restored.tokens = 1984;
  v.restored.ms = 31;
  v.restored.compute_ms = 1900;
  const std::string done = "Restored 1,984 tokens from disk in 31 ms; computing them would take 1.9 s.";
  EXPECT_NE(verdict_sentence(v, {}).find(done), std::string::npos) << verdict_sentence(v, {});
  v.restored.declined_tokens = 320;
  v.restored.declined_read_ms = 900;
  v.restored.declined_compute_ms = 400;
  v.restored.declined = "stalled";
  EXPECT_NE(verdict_sentence(v, {}).find(done + " 320 tokens on disk were computed instead: reading fell behind and "
                                                "would have taken about 900 ms more, computing 400 ms."),
            std::string::npos)
      << verdict_sentence(v, {});
  v.restored.declined = "mixed";
  EXPECT_NE(verdict_sentence(v, {}).find(done + " 320 tokens on disk were computed while the rest was read: about 400 "
                                                "ms in all, reading everything 900 ms."),
            std::string::npos)
      << verdict_sentence(v, {});
  v.restored.tokens = 0;
  v.restored.declined = "slower";
  EXPECT_NE(verdict_sentence(v, {}).find("320 tokens on disk were computed instead: restoring would take 900 ms, "
                                         "computing 400 ms."),
            std::string::npos)
      << verdict_sentence(v, {});
}

engine::Snapshot full_snapshot() {
  engine::Snapshot s;
  s.epoch = 9;
  s.since = 4;
  s.version = "0.1.0";
  s.pool.blocks_total = 100;
  s.models.push_back({});
  s.models.back().id = ModelId{1};
  s.models.back().name = "tiny";
  s.models.back().state = engine::ModelInfo::State::kReady;
  s.tenants.push_back({});
  s.keys.push_back({});
  s.keys.back().prefix = "lk_ab";
  s.pins.push_back({});
  s.entries.push_back({});
  s.packs.push_back({});
  s.jobs.push_back({});
  s.jobs.back().verb = "warm";
  auto tree = std::make_shared<std::vector<engine::TreeNode>>();
  tree->push_back({});
  tree->back().id = NodeId{4};
  tree->back().tokens = 64;
  s.tree = tree;
  s.requests.push_back({});
  s.requests.back().id = RequestId{7};
  s.requests.back().state = engine::RequestRecord::State::kDone;
  s.requests.back().sections = started().sections;
  s.requests.back().here_tokens = {"a", "\xFF"};
  s.history.push_back({});
  return s;
}

TEST(ControlAnswer, TheSnapshotHoldsEveryMember) {
  const JsonValue s = json(snapshot_json(full_snapshot()));
  const std::vector<std::string> names{
      "epoch",    "since", "at",   "started",  "version", "device",  "pool",   "store",  "models",    "tenants",
      "keys",     "pins",  "entries", "packs", "jobs",    "tree",    "requests", "history",           "running",
      "queued",   "decode_tokens_per_s",       "prefill_tokens_per_s", "dropped_events",
      "broken_promises",      "last_broken_promise",  "resident_bytes"};
  ASSERT_EQ(s.members.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(s.members[i].name, names[i]);
  EXPECT_EQ(member(s, {"models", "0", "state"}).text, "ready");
  EXPECT_EQ(member(s, {"keys", "0", "prefix"}).text, "lk_ab");
  EXPECT_EQ(member(s, {"tree", "0", "tokens"}).integer, 64);
  EXPECT_EQ(member(s, {"requests", "0", "state"}).text, "done");
  EXPECT_EQ(member(s, {"requests", "0", "verdict", "kind"}).text, "cold");
  EXPECT_EQ(member(s, {"requests", "0", "sections", "1", "label"}).text, "user message 1");
  EXPECT_EQ(member(s, {"requests", "0", "here_tokens", "1"}).text, "\xEF\xBF\xBD");
  EXPECT_EQ(member(s, {"history", "0", "warm_p50_ms"}).number, -1);
}

TEST(ControlAnswer, AnUnchangedTreeIsNull) {
  engine::Snapshot s = full_snapshot();
  s.tree = nullptr;
  EXPECT_NE(snapshot_json(s).find("\"tree\":null"), std::string::npos);
}

TEST(ControlAnswer, PartsAndSingleRequestsAreFound) {
  const engine::Snapshot s = full_snapshot();
  for (const char* name : {"tree", "requests", "tenants", "keys", "pins", "entries", "packs", "models"}) {
    const JsonValue part = json(part_json(s, name));
    EXPECT_EQ(member(part, {"epoch"}).integer, 9);
    EXPECT_EQ(member(part, {name}).items.size(), 1u) << name;
  }
  EXPECT_EQ(part_json(s, "pool"), "");
  EXPECT_EQ(member(json(request_json(s, RequestId{7})), {"id"}).integer, 7);
  EXPECT_EQ(request_json(s, RequestId{8}), "");
}

TEST(ControlAnswer, AJobHoldsEveryMemberAndARangeSaysWhereItLies) {
  engine::Snapshot s;
  engine::JobInfo job;
  job.id = JobId{4};
  job.verb = "move";
  job.state = engine::JobInfo::State::kRunning;
  job.node = NodeId{7};
  job.to = "disk";
  job.blocks_done = 3;
  job.blocks_total = 9;
  job.tally.left_pool = 3;
  job.tally.refusal = "over_cap";
  job.tally.computed = 5;
  job.codec.bytes_before = 4096;
  job.codec.bytes_after = 2048;
  job.codec.compute_tokens = 160;
  job.warning = "nobody came";
  s.jobs.push_back(job);
  const JsonValue one = json(job_json(s, JobId{4}));
  const std::vector<std::string> names{"id", "verb", "state", "progress", "done", "error", "node", "to", "dry_run",
                                       "blocks_done", "blocks_total", "bytes_moved", "result", "bytes_before",
                                       "bytes_after", "codec_error", "compute_tokens", "compute_ms", "detail",
                                       "warning", "started", "ended"};
  ASSERT_EQ(one.members.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(one.members[i].name, names[i]);
  EXPECT_EQ(member(one, {"state"}).text, "running");
  EXPECT_EQ(member(one, {"blocks_total"}).integer, 9);
  EXPECT_EQ(member(one, {"result", "left_pool"}).integer, 3);
  EXPECT_EQ(member(one, {"result", "refusal"}).text, "over_cap");
  EXPECT_EQ(member(one, {"result", "computed"}).integer, 5);
  EXPECT_EQ(member(one, {"bytes_before"}).integer, 4096);
  EXPECT_EQ(member(one, {"bytes_after"}).integer, 2048);
  EXPECT_EQ(member(one, {"compute_tokens"}).integer, 160);
  EXPECT_EQ(member(one, {"warning"}).text, "nobody came");
  EXPECT_EQ(job_json(s, JobId{5}), "");
  EXPECT_EQ(member(json(part_json(s, "jobs")), {"jobs", "0", "verb"}).text, "move");
  engine::VerbResult result;
  EXPECT_EQ(member(json(result_json(result)), {"job"}).type, JsonValue::Type::kNull);
  result.job = job;
  result.identity = "ab";
  result.ranges.push_back({});
  result.ranges.back().tier = "disk";
  result.ranges.back().lineage = "exact";
  result.ranges.back().durable = true;
  const JsonValue answer = json(result_json(result));
  EXPECT_EQ(member(answer, {"job", "id"}).integer, 4);
  EXPECT_EQ(member(answer, {"ranges", "0", "tier"}).text, "disk");
  EXPECT_EQ(member(answer, {"ranges", "0", "lineage"}).text, "exact");
  EXPECT_TRUE(member(answer, {"ranges", "0", "durable"}).flag);
  EXPECT_EQ(member(answer, {"identity"}).text, "ab");
}

TEST(ControlAnswer, OnlyReadyModelsAreListed) {
  engine::Snapshot s = full_snapshot();
  s.models.push_back({});
  s.models.back().name = "loading";
  s.models.back().state = engine::ModelInfo::State::kLoading;
  const JsonValue list = json(model_list_json(s));
  EXPECT_EQ(member(list, {"object"}).text, "list");
  ASSERT_EQ(member(list, {"data"}).items.size(), 1u);
  EXPECT_EQ(member(list, {"data", "0", "id"}).text, "tiny");
  EXPECT_EQ(member(json(model_json(s, "tiny")), {"object"}).text, "model");
  EXPECT_EQ(model_json(s, "loading"), "");
}

TEST(ControlAnswer, SettingsShowTheirRows) {
  const JsonValue all = json(settings_json(settings::Settings()));
  ASSERT_FALSE(member(all, {"settings"}).items.empty());
  EXPECT_EQ(member(all, {"settings", "0", "key"}).text, "engine.max_tokens");
  EXPECT_EQ(member(all, {"settings", "0", "value"}).text, "32768");
}

TEST(JsonWriter, NothingMakesBrokenJson) {
  JsonWriter out;
  out.begin_object()
      .member("q\"\\\n\x01", std::string("\xC0\xAF\xED\xA0\x80\xF5 ok \xE2\x82"))
      .member("nan", std::nan(""))
      .member("inf", static_cast<double>(INFINITY))
      .member("x", 0.1)
      .end_object();
  const JsonValue value = json(out.take());
  EXPECT_EQ(value.members[0].name, "q\"\\\n\x01");
  EXPECT_NE(value.members[0].value.text.find(" ok "), std::string::npos);
  EXPECT_TRUE(value.members[1].value.is(JsonValue::Type::kNull));
  EXPECT_EQ(value.members[3].value.number, 0.1);
}

}  // namespace
}  // namespace larder::http
