// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/http/control_request.h"
#include "runtime/http/openai_request.h"

namespace larder::http {
namespace {

const JsonLimits kLimits;

ParsedRequest chat(const std::string& body) {
  auto outcome = parse_chat(body, kLimits);
  const Fault* fault = std::get_if<Fault>(&outcome);
  EXPECT_EQ(fault, nullptr) << (fault ? fault->error.message : "") << " for " << body;
  return fault ? ParsedRequest{} : std::get<ParsedRequest>(std::move(outcome));
}

ParsedRequest completion(const std::string& body) {
  auto outcome = parse_completion(body, kLimits);
  const Fault* fault = std::get_if<Fault>(&outcome);
  EXPECT_EQ(fault, nullptr) << (fault ? fault->error.message : "") << " for " << body;
  return fault ? ParsedRequest{} : std::get<ParsedRequest>(std::move(outcome));
}

// A chat with one user message and these members more.
std::string chat_with(const std::string& members) {
  return "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" + (members.empty() ? "" : "," + members) + "}";
}

Fault chat_fault(const std::string& body) {
  auto outcome = parse_chat(body, kLimits);
  const Fault* fault = std::get_if<Fault>(&outcome);
  EXPECT_NE(fault, nullptr) << body;
  return fault ? *fault : Fault{};
}

Fault completion_fault(const std::string& body) {
  auto outcome = parse_completion(body, kLimits);
  const Fault* fault = std::get_if<Fault>(&outcome);
  EXPECT_NE(fault, nullptr) << body;
  return fault ? *fault : Fault{};
}

TEST(ChatRequest, AllMembersAreRead) {
  const ParsedRequest parsed = chat(R"({"model":"m","messages":[{"role":"system","content":"è qui"},
    {"role":"user","name":"Ada","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},
    {"type":"text","text":"b"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
    "function":{"name":"on","arguments":"{\"x\":1}"}}]},{"role":"tool","tool_call_id":"1","content":"ok"}],
    "tools":[{"type":"function","function":{"name":"on","parameters":{"z":1,"a":2.50}}}],"tool_choice":"auto",
    "stream":true,"stream_options":{"include_usage":true},"n":2,"stop":["x","yy"],"seed":-1,"max_tokens":5,
    "max_completion_tokens":7,"temperature":0.5,"top_p":0.25,"top_k":40,"min_p":0.125,"frequency_penalty":-1,
    "presence_penalty":1,"repetition_penalty":1.5,"logit_bias":{"17":-100,"3":2.5},"ignore_eos":true,"logprobs":true,
    "top_logprobs":3,"user":"u","response_format":{"type":"text"},"cache_prompt":false,
    "larder":{"label":"casa","deadline_ms":1000,"unknown":1},"unknown_member":{"deep":[1,2]}})");
  const engine::Request& r = parsed.request;
  const auto& prompt = std::get<engine::ChatPrompt>(r.prompt);
  EXPECT_EQ(r.model, "m");
  ASSERT_EQ(prompt.messages.size(), 4u);
  EXPECT_EQ(prompt.messages[0].content, "è qui");
  EXPECT_EQ(prompt.messages[1].content, "a\nb");
  EXPECT_EQ(prompt.messages[1].name, "Ada");
  EXPECT_EQ(prompt.messages[2].content, "");
  EXPECT_EQ(prompt.messages[2].tool_calls_json,
            R"([{"id":"1","type":"function","function":{"name":"on","arguments":"{\"x\":1}"}}])");
  EXPECT_EQ(prompt.messages[3].tool_call_id, "1");
  ASSERT_EQ(prompt.tools_json.size(), 1u);
  EXPECT_EQ(prompt.tools_json[0], R"({"type":"function","function":{"name":"on","parameters":{"z":1,"a":2.50}}})");
  EXPECT_TRUE(prompt.add_generation_prompt);
  EXPECT_TRUE(parsed.stream && parsed.include_usage && parsed.has_seed && parsed.chat);
  EXPECT_EQ(r.n, 2u);
  EXPECT_EQ(r.stop, (std::vector<std::string>{"x", "yy"}));
  EXPECT_EQ(r.sampling.seed, ~std::uint64_t{0});
  EXPECT_EQ(r.max_tokens, 7u);
  EXPECT_EQ(r.sampling.temperature, 0.5f);
  EXPECT_EQ(r.sampling.top_p, 0.25f);
  EXPECT_EQ(r.sampling.top_k, 40u);
  EXPECT_EQ(r.sampling.min_p, 0.125f);
  EXPECT_EQ(r.sampling.frequency_penalty, -1.0f);
  EXPECT_EQ(r.sampling.presence_penalty, 1.0f);
  EXPECT_EQ(r.sampling.repetition_penalty, 1.5f);
  EXPECT_EQ(r.sampling.logit_bias, (std::vector<std::pair<Token, float>>{{17, -100.0f}, {3, 2.5f}}));
  EXPECT_TRUE(r.ignore_eos && r.sampling.logprobs);
  EXPECT_EQ(r.sampling.top_logprobs, 3u);
  EXPECT_EQ(r.cache, engine::CachePolicy::kBypass);
  EXPECT_EQ(r.label, "casa");
  EXPECT_EQ(r.deadline_ms, 1000);
}

TEST(ChatRequest, AStringAndOneTextPartAreTheSamePrompt) {
  const auto whole = chat(R"({"messages":[{"role":"user","content":"hi"}]})");
  const auto parts = chat(R"({"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
  EXPECT_EQ(std::get<engine::ChatPrompt>(whole.request.prompt).messages[0].content,
            std::get<engine::ChatPrompt>(parts.request.prompt).messages[0].content);
}

TEST(ChatRequest, NullCountsAsAbsent) {
  const ParsedRequest parsed = chat(chat_with(
      R"("model":null,"stop":null,"seed":null,"max_tokens":null,"temperature":null,"logit_bias":null,"tools":null,)"
      R"("stream":null,"stream_options":null,"n":null,"response_format":null,"tool_choice":null,"larder":null)"));
  EXPECT_EQ(parsed.request.n, 1u);
  EXPECT_EQ(parsed.request.max_tokens, 0u);
  EXPECT_FALSE(parsed.has_seed || parsed.stream);
}

TEST(ChatRequest, ANumberWithoutFractionIsAnInteger) {
  EXPECT_EQ(chat(chat_with(R"("max_tokens":5.0)")).request.max_tokens, 5u);
}

TEST(ChatRequest, OfEqualNamesTheLastCounts) {
  EXPECT_EQ(chat(chat_with(R"("max_tokens":5,"max_tokens":6)")).request.max_tokens, 6u);
}

TEST(ChatRequest, EveryWrongTypeNamesItsMember) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"("model":1)", "model"},
      {R"("stream":"yes")", "stream"},
      {R"("stream_options":true)", "stream_options"},
      {R"("stream_options":{"include_usage":1})", "stream_options.include_usage"},
      {R"("n":"2")", "n"},
      {R"("n":1.5)", "n"},
      {R"("stop":1)", "stop"},
      {R"("stop":["a",1])", "stop[1]"},
      {R"("seed":"7")", "seed"},
      {R"("max_tokens":"5")", "max_tokens"},
      {R"("max_completion_tokens":[])", "max_completion_tokens"},
      {R"("temperature":"0")", "temperature"},
      {R"("top_p":{})", "top_p"},
      {R"("top_k":0.5)", "top_k"},
      {R"("min_p":true)", "min_p"},
      {R"("frequency_penalty":"a")", "frequency_penalty"},
      {R"("presence_penalty":[])", "presence_penalty"},
      {R"("repetition_penalty":"1")", "repetition_penalty"},
      {R"("logit_bias":[])", "logit_bias"},
      {R"("logit_bias":{"a":1})", "logit_bias"},
      {R"("logit_bias":{"-1":1})", "logit_bias"},
      {R"("logit_bias":{"1":"x"})", "logit_bias"},
      {R"("ignore_eos":1)", "ignore_eos"},
      {R"("logprobs":1)", "logprobs"},
      {R"("top_logprobs":"1")", "top_logprobs"},
      {R"("response_format":"text")", "response_format"},
      {R"("response_format":{})", "response_format"},
      {R"("cache_prompt":"no")", "cache_prompt"},
      {R"("larder":1)", "larder"},
      {R"("larder":{"cache":"sometimes"})", "larder.cache"},
      {R"("larder":{"label":5})", "larder.label"},
      {R"("tools":{})", "tools"},
      {R"("tools":[1])", "tools[0]"},
      {R"("tools":[{"type":"function"}])", "tools[0]"},
  };
  for (const auto& [members, param] : rows) {
    const Fault fault = chat_fault(chat_with(members));
    EXPECT_EQ(fault.param, param) << members;
    EXPECT_EQ(fault.error.code, ErrorCode::kInvalidArgument) << members;
    EXPECT_NE(fault.error.message.find(param), std::string::npos) << members;
  }
}

TEST(ChatRequest, EveryWrongMessageNamesItsPlace) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"({})", "messages"},
      {R"({"messages":null})", "messages"},
      {R"({"messages":[]})", "messages"},
      {R"({"messages":"hi"})", "messages"},
      {R"({"messages":["hi"]})", "messages[0]"},
      {R"({"messages":[{"content":"hi"}]})", "messages[0].role"},
      {R"({"messages":[{"role":1,"content":"hi"}]})", "messages[0].role"},
      {R"({"messages":[{"role":"robot","content":"hi"}]})", "messages[0].role"},
      {R"({"messages":[{"role":"user"}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":null}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":5}]})", "messages[0].content"},
      {R"({"messages":[{"role":"user","content":["hi"]}]})", "messages[0].content[0]"},
      {R"({"messages":[{"role":"user","content":[{"text":"hi"}]}]})", "messages[0].content[0]"},
      {R"({"messages":[{"role":"user","content":[{"type":"text"}]}]})", "messages[0].content[0]"},
      {R"({"messages":[{"role":"user","content":"a"},{"role":"user","content":"b","name":7}]})", "messages[1].name"},
      {R"({"messages":[{"role":"assistant","content":"","tool_calls":[{}]}]})", "messages[0].tool_calls[0]"},
      {R"({"messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":5}}]}]})",
       "messages[0].tool_calls[0].function.arguments"},
  };
  for (const auto& [body, param] : rows) EXPECT_EQ(chat_fault(body).param, param) << body;
}

TEST(ChatRequest, WhatIsNotSupportedIsRefusedByName) {
  const Fault image = chat_fault(
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}}]}]})");
  EXPECT_EQ(image.error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(image.param, "messages[0].content[1]");
  EXPECT_NE(image.error.message.find("image_url"), std::string::npos);
  const Fault format = chat_fault(chat_with(R"("response_format":{"type":"json_schema","json_schema":{}})"));
  EXPECT_EQ(format.error.code, ErrorCode::kUnsupported);
  EXPECT_NE(format.error.message.find("json_schema"), std::string::npos);
  const auto wanted = [](const std::string& more) {
    return std::get<engine::ChatPrompt>(chat(chat_with(more)).request.prompt).tools_wanted;
  };
  EXPECT_TRUE(wanted(R"("tool_choice":"auto")"));
  EXPECT_TRUE(wanted(R"("seed":1)"));
  EXPECT_FALSE(wanted(R"("tool_choice":"none")"));
  EXPECT_EQ(chat_fault(chat_with(R"("tool_choice":"required")")).error.code, ErrorCode::kUnsupported);
  EXPECT_EQ(chat_fault(chat_with(R"("tool_choice":{"type":"function"})")).param, "tool_choice");
}

TEST(ChatRequest, EveryLimitHoldsExactly) {
  const std::vector<std::pair<std::string, std::string>> pairs{
      {R"("n":1)", R"("n":0)"},
      {R"("n":16)", R"("n":17)"},
      {R"("max_tokens":1)", R"("max_tokens":0)"},
      {R"("max_tokens":2147483647)", R"("max_tokens":2147483648)"},
      {R"("max_tokens":1)", R"("max_tokens":-1)"},
      {R"("temperature":0)", R"("temperature":-0.001)"},
      {R"("temperature":2)", R"("temperature":2.001)"},
      {R"("top_p":0.001)", R"("top_p":0)"},
      {R"("top_p":1)", R"("top_p":1.001)"},
      {R"("min_p":1)", R"("min_p":1.5)"},
      {R"("top_k":-1)", R"("top_k":-2)"},
      {R"("frequency_penalty":2)", R"("frequency_penalty":2.5)"},
      {R"("presence_penalty":-2)", R"("presence_penalty":-2.5)"},
      {R"("logit_bias":{"1":100})", R"("logit_bias":{"1":101})"},
      {R"("logprobs":true,"top_logprobs":20)", R"("logprobs":true,"top_logprobs":21)"},
      {R"("logprobs":true,"top_logprobs":1)", R"("top_logprobs":1)"},
      {R"("seed":9223372036854775807)", R"("seed":9223372036854775808)"},
      {"\"stop\":\"" + std::string(256, 's') + "\"", "\"stop\":\"" + std::string(257, 's') + "\""},
      {R"("stop":["a"])", R"("stop":[""])"},
      {R"("stop":[])", R"("stop":"")"},
  };
  for (const auto& [good, bad] : pairs) {
    chat(chat_with(good));
    chat_fault(chat_with(bad));
  }
  std::string stops = R"("stop":["a")";
  for (int i = 1; i < 16; ++i) stops += ",\"a\"";
  chat(chat_with(stops + "]"));
  chat_fault(chat_with(stops + ",\"a\"]"));
}

TEST(ChatRequest, UnicodeArrivesAsItIs) {
  const ParsedRequest parsed = chat(R"({"messages":[{"role":"user","content":"\u00e9 \ud83d\ude0a 😊 \u0000 \n"}]})");
  EXPECT_EQ(std::get<engine::ChatPrompt>(parsed.request.prompt).messages[0].content,
            std::string("é 😊 😊 ") + '\0' + " \n");
  chat_fault(R"({"messages":[{"role":"user","content":"\ud83d"}]})");
  chat_fault("{\"messages\":[{\"role\":\"user\",\"content\":\"\xFF\"}]}");
}

TEST(ChatRequest, WhatIsNotAnObjectIsRefused) {
  for (const char* body : {"", " ", "null", "1", "\"x\"", "[]", "{", "{}x", "{\"a\":}", "{'a':1}", "{\"a\":1e999}",
                           "\xEF\xBB\xBF{", "{\"a\":NaN}", "// c\n{}"}) {
    EXPECT_EQ(chat_fault(body).error.code, ErrorCode::kInvalidArgument) << body;
  }
}

TEST(ChatRequest, DepthAndCountAreBounded) {
  const auto nested = [](std::size_t depth) {
    return chat_with("\"unknown\":" + std::string(depth, '[') + std::string(depth, ']'));
  };
  chat(nested(63));
  EXPECT_NE(chat_fault(nested(64)).error.message.find("64 levels"), std::string::npos);
  for (const std::size_t depth : {65u, 3000u, 100'000u}) chat_fault(nested(depth));
  chat_fault(std::string(100'000, '['));
  chat_fault(std::string(1'000'000, '{'));
  JsonLimits few;
  few.values = 10;
  EXPECT_TRUE(parse_json("[1,2,3,4,5,6,7,8,9]", few).ok());
  EXPECT_FALSE(parse_json("[1,2,3,4,5,6,7,8,9,10]", few).ok());
}

TEST(CompletionRequest, EveryFormOfPromptIsRead) {
  EXPECT_EQ(std::get<engine::TextPrompt>(completion(R"({"prompt":"hi"})").request.prompt).text, "hi");
  EXPECT_EQ(std::get<engine::TextPrompt>(completion(R"({"prompt":["hi"]})").request.prompt).text, "hi");
  EXPECT_EQ(std::get<engine::TextPrompt>(completion(R"({"prompt":""})").request.prompt).text, "");
  const std::vector<Token> ids{1, 2, 3};
  EXPECT_EQ(std::get<engine::TokenPrompt>(completion(R"({"prompt":[1,2,3]})").request.prompt).tokens, ids);
  EXPECT_EQ(std::get<engine::TokenPrompt>(completion(R"({"prompt":[[1,2,3]]})").request.prompt).tokens, ids);
  for (const char* bad :
       {R"({})", R"({"prompt":null})", R"({"prompt":5})", R"({"prompt":[]})", R"({"prompt":[[]]})",
        R"({"prompt":["a","b"]})", R"({"prompt":[[1],[2]]})", R"({"prompt":[1,"a"]})", R"({"prompt":["a",1]})",
        R"({"prompt":[-1]})", R"({"prompt":[2147483648]})", R"({"prompt":[1.5]})", R"({"prompt":{}})"}) {
    EXPECT_EQ(completion_fault(bad).param.substr(0, 6), "prompt") << bad;
  }
}

TEST(CompletionRequest, LengthsEchoAndLogprobs) {
  EXPECT_EQ(completion(R"({"prompt":"a"})").request.max_tokens, 16u);
  const ParsedRequest echo = completion(R"({"prompt":"a","echo":true,"max_tokens":0})");
  EXPECT_TRUE(echo.echo && echo.no_new_text);
  EXPECT_EQ(echo.request.max_tokens, 1u);
  EXPECT_FALSE(echo.request.echo_logprobs);
  EXPECT_TRUE(completion(R"({"prompt":"a","echo":true,"logprobs":0})").request.echo_logprobs);
  EXPECT_TRUE(completion(R"({"prompt":[5],"echo":true})").request.echo_logprobs);
  EXPECT_EQ(completion(R"({"prompt":"a","logprobs":5})").request.sampling.top_logprobs, 5u);
  EXPECT_EQ(completion_fault(R"({"prompt":"a","max_tokens":0})").param, "max_tokens");
  for (const char* bad : {R"("max_tokens":-1)", R"("max_tokens":2147483648)", R"("max_tokens":"5")", R"("logprobs":21)",
                          R"("logprobs":true)", R"("echo":1)", R"("best_of":3)", R"("suffix":"x")",
                          R"("echo":true,"stream":true,"logprobs":1)"}) {
    completion_fault(std::string(R"({"prompt":"a",)") + bad + "}");
  }
  completion(R"({"prompt":"a","best_of":1,"suffix":"","max_tokens":null})");
}

engine::Verb verb(const std::string& method, std::vector<std::string> path, const std::string& body) {
  auto outcome = parse_verb(method, path, body, kLimits);
  const Fault* fault = std::get_if<Fault>(&outcome);
  EXPECT_EQ(fault, nullptr) << (fault ? fault->error.message : "");
  return fault ? engine::Verb{} : std::get<engine::Verb>(std::move(outcome));
}

TEST(ControlRequest, EveryVerbIsRead) {
  const auto pin = std::get<engine::PinNode>(
      verb("POST", {"pin"}, R"({"node":7,"reason":"family","ttl_ms":60000,"dry_run":true})"));
  EXPECT_EQ(pin.node.value, 7u);
  EXPECT_EQ(pin.reason, "family");
  EXPECT_EQ(pin.ttl_ms, 60000);
  EXPECT_TRUE(pin.dry_run);
  EXPECT_EQ(std::get<engine::Unpin>(verb("POST", {"unpin"}, R"({"pin":3})")).pin.value, 3u);
  EXPECT_EQ(std::get<engine::Unpin>(verb("POST", {"unpin"}, R"({"node":4})")).node.value, 4u);
  EXPECT_TRUE(std::get<engine::DeleteNode>(verb("POST", {"delete"}, R"({"node":4,"when_idle":true})")).when_idle);
  EXPECT_EQ(std::get<engine::Locate>(verb("POST", {"locate"}, R"({"node":9})")).node.value, 9u);
  EXPECT_EQ(std::get<engine::LoadModel>(verb("POST", {"models", "load"}, R"({"path":"a.gguf"})")).path, "a.gguf");
  EXPECT_EQ(std::get<engine::UnloadModel>(verb("POST", {"models", "unload"}, R"({"model":1})")).model.value, 1u);
  EXPECT_EQ(std::get<engine::CreateTenant>(verb("POST", {"tenants"}, R"({"name":"kids"})")).name, "kids");
  EXPECT_EQ(std::get<engine::DeleteTenant>(verb("DELETE", {"tenants", "5"}, "")).tenant.value, 5u);
  const auto set = std::get<engine::SetTenant>(verb("POST", {"tenants", "5", "set"}, R"({"foreign":true})"));
  EXPECT_TRUE(set.tenant.value == 5 && set.foreign);
  const auto key = std::get<engine::CreateKey>(verb("POST", {"keys"}, R"({"tenant":2,"label":"ha","admin":true})"));
  EXPECT_TRUE(key.tenant.value == 2 && key.label == "ha" && key.admin);
  EXPECT_EQ(std::get<engine::RevokeKey>(verb("DELETE", {"keys", "6"}, "")).key.value, 6u);
  const auto warm = std::get<engine::WarmPack>(verb("POST", {"packs", "casa-it", "warm"}, R"({"pin":true})"));
  EXPECT_TRUE(warm.pack == "casa-it" && warm.pin);
  EXPECT_EQ(std::get<engine::CancelRequest>(verb("POST", {"requests", "8", "cancel"}, "")).request.value, 8u);
  const auto lan = verb("POST", {"settings"}, R"({"key":"api.lan","value":true})");
  EXPECT_EQ(std::get<engine::SetSetting>(lan).value, "true");
  const auto pool = verb("POST", {"settings"}, R"({"key":"pool.bytes","value":5})");
  EXPECT_EQ(std::get<engine::SetSetting>(pool).value, "5");
}

TEST(ControlRequest, VerbsOverTiersAreRead) {
  const auto move = std::get<engine::MoveBlocks>(verb("POST", {"move"}, R"({"node":7,"to":"disk","dry_run":true})"));
  EXPECT_TRUE(move.what.node.value == 7 && !move.what.path && move.to == "disk" && !move.keep && move.dry_run);
  const auto copy = std::get<engine::MoveBlocks>(
      verb("POST", {"copy"}, R"({"node":7,"to":"pool","path":true,"first_block":3,"block_count":5})"));
  EXPECT_TRUE(copy.keep && copy.what.path && copy.what.first_block == 3 && copy.what.block_count == 5);
  EXPECT_FALSE(copy.dry_run);
  EXPECT_EQ(std::get<engine::VerifyBlocks>(verb("POST", {"verify"}, R"({"node":9})")).what.node.value, 9u);
  const auto compress = std::get<engine::CompressBlocks>(
      verb("POST", {"compress"}, R"({"node":7,"scheme":"int8","path":true,"first_block":2,"dry_run":true})"));
  EXPECT_TRUE(compress.what.node.value == 7 && compress.scheme == "int8" && compress.what.path && compress.dry_run);
  EXPECT_EQ(compress.what.first_block, 2u);
  const auto back = std::get<engine::DecompressBlocks>(verb("POST", {"decompress"}, R"({"node":8})"));
  EXPECT_TRUE(back.what.node.value == 8 && !back.what.path && !back.dry_run);
  const auto path = std::get<engine::Locate>(verb("POST", {"locate"}, R"({"node":9,"first_block":2})"));
  EXPECT_TRUE(!path.below && path.first_block == 2 && path.block_count == 0);
  EXPECT_TRUE(std::get<engine::Locate>(verb("POST", {"locate"}, R"({"node":9,"below":true})")).below);
  EXPECT_EQ(std::get<engine::CancelJob>(verb("POST", {"jobs", "12", "cancel"}, "")).job.value, 12u);
}

TEST(ControlRequest, FaultsNameTheirMember) {
  const std::vector<std::tuple<std::vector<std::string>, std::string, std::string>> rows{
      {{"pin"}, "{}", "node"},
      {{"pin"}, R"({"node":"7"})", "node"},
      {{"pin"}, R"({"node":-7})", "node"},
      {{"pin"}, R"({"node":7,"ttl_ms":-1})", "ttl_ms"},
      {{"unpin"}, "{}", "pin"},
      {{"models", "load"}, "{}", "path"},
      {{"models", "load"}, R"({"path":"a\u0000b"})", "path"},
      {{"tenants"}, R"({"name":""})", "name"},
      {{"tenants"}, R"({"name":"a\nb"})", "name"},
      {{"tenants", "5", "set"}, "{}", "foreign"},
      {{"tenants", "5", "set"}, R"({"foreign":"on"})", "foreign"},
      {{"keys"}, R"({"tenant":4294967296})", "tenant"},
      {{"settings"}, R"({"key":"api.lan"})", "value"},
      {{"settings"}, R"({"key":"api.lan","value":[]})", "value"},
      {{"move"}, R"({"to":"disk"})", "node"},
      {{"move"}, R"({"node":7})", "to"},
      {{"move"}, R"({"node":7,"to":5})", "to"},
      {{"copy"}, R"({"node":7,"to":"disk","path":1})", "path"},
      {{"copy"}, R"({"node":7,"to":"disk","first_block":1})", "first_block"},
      {{"copy"}, R"({"node":7,"to":"disk","path":true,"first_block":-1})", "first_block"},
      {{"copy"}, R"({"node":7,"to":"disk","path":true,"block_count":0})", "block_count"},
      {{"verify"}, R"({"node":7,"dry_run":"yes"})", "dry_run"},
      {{"verify"}, R"({"node":7,"path":true,"block_count":4294967296})", "block_count"},
      {{"compress"}, R"({"node":7})", "scheme"},
      {{"compress"}, R"({"scheme":"int8"})", "node"},
      {{"compress"}, R"({"node":7,"scheme":"int8","first_block":1})", "first_block"},
      {{"decompress"}, R"({"node":7,"dry_run":1})", "dry_run"},
      {{"locate"}, R"({"node":7,"below":true,"first_block":1})", "first_block"},
  };
  for (const auto& [path, body, param] : rows) {
    const auto outcome = parse_verb("POST", path, body, kLimits);
    ASSERT_TRUE(std::holds_alternative<Fault>(outcome)) << body;
    EXPECT_EQ(std::get<Fault>(outcome).param, param) << body;
  }
}

TEST(ControlRequest, UnknownPathsAndIdsAreNotFound) {
  for (const auto& path : std::vector<std::vector<std::string>>{
           {}, {"nothing"}, {"tenants", "x"}, {"tenants", "-1"}, {"keys", "99999999999"}, {"requests", "1", "stop"},
           {"jobs", "x", "cancel"}, {"jobs", "1"}, {"tenants", "x", "set"}, {"tenants", "1", "get"},
           {"tenants", ".."}, {"packs", "a"}, {"keys", ""}}) {
    for (const char* method : {"POST", "DELETE", ""}) {
      const auto outcome = parse_verb(method, path, "", kLimits);
      ASSERT_TRUE(std::holds_alternative<Fault>(outcome));
      EXPECT_EQ(std::get<Fault>(outcome).error.code, ErrorCode::kNotFound);
    }
  }
}

}  // namespace
}  // namespace larder::http
