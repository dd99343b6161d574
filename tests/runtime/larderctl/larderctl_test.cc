// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime/larderctl/client.h"
#include "runtime/larderctl/print.h"

namespace larder::larderctl {
namespace {

TEST(Printable, ATextCannotSteerTheTerminal) {
  EXPECT_EQ(printable("casa \xC3\xA8 qui"), "casa \xC3\xA8 qui");
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m\n\t\x7f"), "?[31mred?[0m???");
  EXPECT_EQ(printable("a\xC2\x9B" "31m"), "a?31m");
}

TEST(ExitStatus, FollowsTheServersStatus) {
  EXPECT_EQ(exit_status(200), 0);
  EXPECT_EQ(exit_status(204), 0);
  EXPECT_EQ(exit_status(401), 4);
  EXPECT_EQ(exit_status(403), 4);
  EXPECT_EQ(exit_status(404), 5);
  for (const long status : {400L, 409L, 413L, 429L, 499L}) EXPECT_EQ(exit_status(status), 6);
  for (const long status : {500L, 503L, 504L, 302L, 0L}) EXPECT_EQ(exit_status(status), 7);
}

TEST(ErrorMessage, IsTheServersOrNamesTheStatus) {
  EXPECT_EQ(error_message({409, R"({"error":{"message":"in use\n","type":"x","param":null,"code":"conflict"}})"}),
            "in use?");
  for (const char* body : {"", "<html>", "[]", R"({"error":"x"})", R"({"error":{"message":5}})"}) {
    EXPECT_EQ(error_message({502, body}), "the server answered with status 502") << body;
  }
}

TEST(Client, AnAddressThatNobodyServesIsNamed) {
  const Client client("http://127.0.0.1:1/", "");
  const auto reply = client.send("GET", "/healthz");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::kIo);
  EXPECT_NE(reply.error().message.find("http://127.0.0.1:1:"), std::string::npos);
  EXPECT_FALSE(Client("file:///etc", "").send("GET", "/passwd").ok());
}

TEST(Show, TheTreeIsIndentedByItsParents) {
  const std::string shown = show("tree", R"({"epoch":1,"tree":[
    {"id":5,"parent":0,"label":"system","tokens":64,"bytes":2048,"host_blocks":2,"pinned":true,"hits":3,"last_hit":0},
    {"id":6,"parent":5,"label":"user\u001b[2J","tokens":8,"bytes":512,"host_blocks":1,"disk_blocks":1,"pinned":false},
    {"id":7,"parent":6,"label":"","tokens":1}]})");
  EXPECT_NE(shown.find("\n5 system "), std::string::npos) << shown;
  EXPECT_NE(shown.find("\n  6 user?[2J "), std::string::npos) << shown;
  EXPECT_NE(shown.find("\n    7 - "), std::string::npos) << shown;
  EXPECT_NE(shown.find("2.0 KiB"), std::string::npos);
  EXPECT_NE(shown.find("host+disk"), std::string::npos);
  EXPECT_NE(shown.find("pinned"), std::string::npos);
}

TEST(Show, ARequestSaysWhy) {
  const std::string shown = show("request", R"({"id":8,"state":"done","verdict":{"kind":"diverged"},"sentence":"Why.",
    "timings":{"queue_ms":1.25,"total_ms":20},"sections":[{"label":"system","token_begin":1,"token_end":9}],
    "diverged_here":"10:01","diverged_cached":"10:02","error":""})");
  for (const char* part : {"request 8: done, diverged\n", "Why.\n", "1.2 ms", "10:01", "10:02", "system"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << shown;
  }
}

TEST(Show, ANewKeyIsShownWithAWarning) {
  const std::string shown = show("result", R"({"key":3,"tenant":1,"secret":"lk_abc","detail":"","placement":[]})");
  EXPECT_NE(shown.find("lk_abc  (shown once"), std::string::npos) << shown;
  EXPECT_EQ(show("result", R"({"pin":0,"blocks":0})"), "done\n");
}

TEST(Show, StrangeAnswersAreNoFault) {
  for (const char* view : {"status", "models", "tree", "requests", "request", "tenants", "keys", "result"}) {
    for (const char* body : {"", "null", "[]", "{}", R"({"tree":5,"models":{},"keys":[1,null,"x"],"tenants":[[]],
                             "requests":[{"usage":7,"timings":[],"verdict":null}],"pool":[],"placement":[3]})"}) {
      EXPECT_FALSE(show(view, body).empty()) << view << body;
    }
  }
}

}  // namespace
}  // namespace larder::larderctl
