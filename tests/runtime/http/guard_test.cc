// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/guard.h"

#include <gtest/gtest.h>

#include "runtime/http/errors.h"

namespace larder::http {
namespace {

RequestHead post_head() {
  RequestHead head;
  head.method = "POST";
  head.path = "/v1/chat/completions";
  head.host = "127.0.0.1:4114";
  head.host_count = 1;
  head.content_type = "application/json";
  head.has_body = true;
  head.local_address = "127.0.0.1";
  return head;
}

int status_of(const RequestHead& head, const GuardRules& rules = {}) {
  const std::optional<Answer> refusal = refuse(head, rules);
  if (!refusal) return 200;
  for (const auto& [name, value] : refusal->headers) EXPECT_NE(name.substr(0, 15), "Access-Control-");
  return refusal->status;
}

int with_host(const std::string& host, const GuardRules& rules = {}, const std::string& local = "127.0.0.1") {
  RequestHead head = post_head();
  head.host = host;
  head.local_address = local;
  return status_of(head, rules);
}

int with_origin(const std::string& origin, const GuardRules& rules = {}) {
  RequestHead head = post_head();
  head.has_origin = true;
  head.origin = origin;
  return status_of(head, rules);
}

TEST(Guard, LoopbackNamesAreGoodHosts) {
  for (const char* host : {"localhost", "localhost:80", "LOCALHOST", "localhost.", "ai.localhost", "127.0.0.1",
                           "127.0.0.1:4114", "127.9.9.9", "[::1]", "[::1]:4114", "[0:0:0:0:0:0:0:1]"}) {
    EXPECT_EQ(with_host(host), 200) << host;
  }
}

TEST(Guard, OtherHostsAreRefused) {
  for (const char* host :
       {"evil.example", "evil.example:4114", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example",
        "127.0.0.1.nip.io", "192.168.1.5", "10.0.0.1", "8.8.8.8", "[fe80::1]", "[::]", "0.0.0.0", "", ":4114",
        "localhost:", "localhost:abc", "localhost:999999", "[::1", "[::1]x", "[]", "127.1", "2130706433", "0x7f000001",
        "localhost/x", "local host", "user@localhost", "nas", "nas.local", "..", ".localhost"}) {
    EXPECT_EQ(with_host(host), 403) << host;
  }
}

TEST(Guard, TheAddressAClientConnectedToIsAGoodHost) {
  EXPECT_EQ(with_host("192.168.1.5:4114", {}, "192.168.1.5"), 200);
  EXPECT_EQ(with_host("192.168.1.6:4114", {}, "192.168.1.5"), 403);
}

TEST(Guard, OnTheLanLiteralsAndListedNamesAreGoodHosts) {
  GuardRules rules;
  rules.lan = true;
  rules.allowed_hosts = {"nas", "nas.local"};
  for (const char* host : {"10.1.2.3", "[fd00::7]:4114", "nas", "NAS.local:4114"}) {
    EXPECT_EQ(with_host(host, rules), 200) << host;
  }
  for (const char* host : {"evil.example", "nas.evil.example", "nas.local.evil"}) {
    EXPECT_EQ(with_host(host, rules), 403) << host;
  }
}

TEST(Guard, ExactlyOneHostHeaderIsNeeded) {
  RequestHead head = post_head();
  head.host_count = 0;
  EXPECT_EQ(status_of(head), 400);
  head.host_count = 2;
  EXPECT_EQ(status_of(head), 400);
}

TEST(Guard, EveryOriginIsRefusedUnlessListed) {
  for (const char* origin : {"https://evil.example", "null", "http://localhost.evil.example", "http://localhost",
                             "http://127.0.0.1:4114", "file://", "app://x", "chrome-extension://abc", ""}) {
    EXPECT_EQ(with_origin(origin), 403) << origin;
  }
  GuardRules rules;
  rules.allowed_origins = {"https://chat.home"};
  EXPECT_EQ(with_origin("https://chat.home", rules), 200);
  for (const char* origin : {"https://chat.home.evil.example", "http://chat.home", "https://chat.home:8443", "null"}) {
    EXPECT_EQ(with_origin(origin, rules), 403) << origin;
  }
}

TEST(Guard, CrossSiteRequestsWithoutOriginAreRefused) {
  for (const auto& [site, status] : std::vector<std::pair<std::string, int>>{
           {"cross-site", 403}, {"same-site", 403}, {"Cross-Site", 403}, {"none", 200}, {"same-origin", 200},
           {"", 200}}) {
    RequestHead head = post_head();
    head.method = "GET";
    head.has_body = false;
    head.content_type = "";
    head.fetch_site = site;
    EXPECT_EQ(status_of(head), status) << site;
  }
}

TEST(Guard, BodiesMustBeJson) {
  for (const auto& [type, status] : std::vector<std::pair<std::string, int>>{
           {"application/json", 200}, {"application/json; charset=utf-8", 200}, {"Application/JSON", 200},
           {" application/json ", 200}, {"text/plain", 415}, {"", 415}, {"application/x-www-form-urlencoded", 415},
           {"multipart/form-data; boundary=application/json", 415}, {"application/jsonx", 415},
           {"text/plain; application/json", 415}}) {
    RequestHead head = post_head();
    head.content_type = type;
    EXPECT_EQ(status_of(head), status) << type;
  }
  RequestHead empty_post = post_head();
  empty_post.has_body = false;
  empty_post.content_type = "";
  EXPECT_EQ(status_of(empty_post), 415);
  RequestHead get = post_head();
  get.method = "GET";
  get.has_body = false;
  get.content_type = "";
  EXPECT_EQ(status_of(get), 200);
}

TEST(Guard, CompressedBodiesAreRefused) {
  RequestHead head = post_head();
  for (const char* encoding : {"gzip", "br", "deflate", "gzip, identity"}) {
    head.content_encoding = encoding;
    EXPECT_EQ(status_of(head), 415) << encoding;
  }
  head.content_encoding = "identity";
  EXPECT_EQ(status_of(head), 200);
}

TEST(Guard, KeysAreReadFromBothHeaders) {
  RequestHead head;
  EXPECT_EQ(credential(head), "");
  head.authorization = "Bearer  abc ";
  EXPECT_EQ(credential(head), "abc");
  head.authorization = "bearer abc";
  EXPECT_EQ(credential(head), "abc");
  head.authorization = "Basic abc";
  EXPECT_EQ(credential(head), "");
  head.api_key = "xyz";
  EXPECT_EQ(credential(head), "xyz");
  head.authorization = "Bearer abc";
  EXPECT_EQ(credential(head), "abc");
}

TEST(Guard, EscapesAreDecodedOrRefused) {
  EXPECT_EQ(percent_decoded("a%2Fb%20c"), "a/b c");
  EXPECT_EQ(percent_decoded("%c3%a9"), "\xC3\xA9");
  for (const char* bad : {"%", "%2", "%zz", "a%00b", "%0a", "a%7f", "\x01"}) EXPECT_FALSE(percent_decoded(bad)) << bad;
  EXPECT_EQ(query_value("a=1&since=42&b", "since"), "42");
  EXPECT_EQ(query_value("since", "since"), "");
  EXPECT_FALSE(query_value("xsince=1", "since"));
}

TEST(ErrorTable, EveryCodeHasOneRowAndTheFourMembers) {
  for (int i = 0; i <= static_cast<int>(ErrorCode::kInternal); ++i) {
    const auto code = static_cast<ErrorCode>(i);
    const Answer answer = error_answer({code, "says \"why\"", ""}, "model");
    EXPECT_EQ(answer.status, error_row(code).status);
    EXPECT_GE(answer.status, 400);
    EXPECT_NE(answer.body.find("\"message\":\"says \\\"why\\\"\""), std::string::npos);
    for (const char* member : {"\"type\":\"", "\"param\":\"model\"", "\"code\":\""}) {
      EXPECT_NE(answer.body.find(member), std::string::npos) << answer.body;
    }
  }
  EXPECT_NE(error_body({ErrorCode::kUnsupported, "no", "tools"}).find("\"param\":\"tools\""), std::string::npos);
  EXPECT_NE(error_body({ErrorCode::kUnsupported, "no", "tiny"}).find("\"param\":null"), std::string::npos);
  EXPECT_EQ(error_body({ErrorCode::kInvalidArgument, "long", std::string(kContextLengthExceeded)}),
            "{\"error\":{\"message\":\"long\",\"type\":\"invalid_request_error\",\"param\":null,"
            "\"code\":\"context_length_exceeded\"}}");
}

TEST(ErrorTable, BusyAndUnavailableSayWhenToComeBack) {
  for (const ErrorCode code : {ErrorCode::kResourceExhausted, ErrorCode::kQuotaExceeded, ErrorCode::kUnavailable}) {
    const Answer answer = error_answer({code, "later", ""});
    ASSERT_FALSE(answer.headers.empty());
    EXPECT_EQ(answer.headers.front().first, "Retry-After");
  }
}

}  // namespace
}  // namespace larder::http
