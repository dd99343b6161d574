// SPDX-License-Identifier: Apache-2.0
#include "runtime/chat_template/json_value.h"

#include <gtest/gtest.h>

namespace larder::chat_template {
namespace {

Meter plenty() { return Meter(1'000'000, 100, 1 << 20); }

std::string round_trip(const std::string& text) {
  Heap heap;
  const Result<Value> value = parse_json(text, 1, heap);
  if (!value.ok()) return "error";
  Meter meter = plenty();
  const Result<MarkedString> dumped = dump_json(meter, value.value(), {});
  return dumped.ok() ? dumped.value().bytes() : "error";
}

TEST(JsonValue, KeepsOrderKindsAndDigits) {
  EXPECT_EQ(round_trip(R"({"z":1,"a":[true,false,null],"m":{"k":-0.50}})"),
            R"({"z": 1, "a": [true, false, null], "m": {"k": -0.5}})");
  EXPECT_EQ(round_trip("18446744073709551616"), "18446744073709551616");
  EXPECT_EQ(round_trip("[1e3, 1E-7, 123456789012345680.0]"), "[1000.0, 1e-07, 1.2345678901234568e+17]");
  EXPECT_EQ(round_trip(R"({"a":1,"b":2,"a":3})"), R"({"a": 3, "b": 2})");
  EXPECT_EQ(round_trip(R"("\u00e8\ud83c\udfe0\ud800x\/\u0007")"), "\"è🏠\xef\xbf\xbdx/\\u0007\"");
}

TEST(JsonValue, RefusesWhatIsNoJson) {
  for (const char* text :
       {"",    "{",   "[1,]",    "{\"a\"}",   "{a:1}", "01",  "1.",       "-",          "+1",  "1e",
        "nul", "\"a", "\"\\x\"", "\"\\u12\"", "[1] 2", "'a'", "\"a\nb\"", "{\"a\":1,}", "NaN", "1e999"}) {
    EXPECT_EQ(round_trip(text), "error") << text;
  }
}

TEST(JsonValue, DepthAndSizeAreBounded) {
  EXPECT_NE(round_trip(std::string(60, '[') + std::string(60, ']')), "error");
  Heap heap;
  const Result<Value> deep = parse_json(std::string(10'000, '['), 1, heap);
  ASSERT_FALSE(deep.ok());
  EXPECT_EQ(deep.error().code, ErrorCode::kResourceExhausted);
  const Result<Value> large = parse_json(std::string(kMaxJsonBytes + 1, ' '), 1, heap);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::kResourceExhausted);
  std::string many = "[";
  for (std::size_t i = 0; i <= kMaxJsonValues; ++i) many += "1,";
  EXPECT_EQ(parse_json(many + "1]", 1, heap).error().code, ErrorCode::kResourceExhausted);
}

TEST(JsonValue, AToolsJsonIsOneUntrustedRange) {
  Heap heap;
  Value first = parse_json(R"({"a": {"b": [1, "x"]}, "c": {}})", 1, heap).value();
  Value second = parse_json(R"({"d": 2})", 2, heap).value();
  Meter meter = plenty();
  const MarkedString one = dump_json(meter, first, {}).value();
  ASSERT_EQ(one.runs().size(), 1u);
  EXPECT_EQ(one.runs()[0].source, 1u);
  const MarkedString both = dump_json(meter, heap.list({first, second}), {}).value();
  for (const MarkedString::Run& run : both.runs()) EXPECT_NE(run.source, kTrusted);
}

}  // namespace
}  // namespace larder::chat_template
