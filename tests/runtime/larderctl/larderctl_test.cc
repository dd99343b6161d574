// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "runtime/larderctl/client.h"
#include "runtime/larderctl/print.h"
#include "runtime/larderctl/watch.h"

namespace larder::larderctl {
namespace {

TEST(Printable, ATextCannotSteerTheTerminal) {
  EXPECT_EQ(printable("casa \xC3\xA8 qui"), "casa \xC3\xA8 qui");
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m\n\t\x7f"), "?[31mred?[0m???");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "31m"),
            "a?31m");
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

constexpr const char* kJob = R"({"id":4,"verb":"move","state":"running","progress":0.25,"done":false,"error":"",
    "node":7,"to":"disk","blocks_done":50,"blocks_total":200,"bytes_moved":2097152,"detail":"","warning":"w\u001b"})";

TEST(Jobs, ProgressIsOneLineAndTheEndIsSeen) {
  EXPECT_EQ(progress_line(kJob), "move to disk: 50 of 200 blocks, 2.0 MiB, 25 %");
  EXPECT_EQ(ended_as(kJob), "");
  EXPECT_EQ(ended_as(R"({"done":true,"state":"cancelled"})"), "cancelled");
  EXPECT_EQ(ended_as(R"({"done":true})"), "failed");
  for (const char* strange : {"", "[]", R"({"done":1})", R"({"done":"yes"})"}) {
    EXPECT_EQ(ended_as(strange), "") << strange;
  }
  EXPECT_EQ(progress_line("5"), "");
}

TEST(Jobs, AreListedAndShownOneByOne) {
  const std::string list = show("jobs", std::string(R"({"epoch":1,"jobs":[)") + kJob + R"(,
    {"id":5,"verb":"load a.gguf","state":"failed","progress":1,"done":true,"error":"corrupt: x"}]})");
  for (const char* part : {"move", "disk", "running 25.0 %", "50/200", "load a.gguf", "failed", "corrupt: x"}) {
    EXPECT_NE(list.find(part), std::string::npos) << part << list;
  }
  const std::string one = show("job", kJob);
  for (const char* part : {"4, move, running", "disk", "50 of 200", "2.0 MiB", "w?"}) {
    EXPECT_NE(one.find(part), std::string::npos) << part << one;
  }
  const std::string begun = show("result", std::string(R"({"blocks":200,"job":)") + kJob + "}");
  EXPECT_NE(begun.find("4, move, running"), std::string::npos) << begun;
}

TEST(Show, RangesSayWhereEachBlockLies) {
  const std::string shown = show("result", R"({"placement":[],"ranges":[
    {"first_block":2,"blocks":3,"first_position":64,"tokens":96,"tier":"disk","bytes":2048,"durable":true,
     "pinned":true,"in_use":false,"growing":false,"lineage":"exact"}]})");
  for (const char* part : {"2-4", "64", "disk", "2.0 KiB", "pinned", "exact"}) {
    EXPECT_NE(shown.find(part), std::string::npos) << part << shown;
  }
}

TEST(Show, StrangeAnswersAreNoFault) {
  for (const char* view :
       {"status", "models", "tree", "requests", "request", "tenants", "keys", "result", "jobs", "job"}) {
    for (const char* body : {"", "null", "[]", "{}", R"({"tree":5,"models":{},"keys":[1,null,"x"],"tenants":[[]],
                             "requests":[{"usage":7,"timings":[],"verdict":null}],"pool":[],"placement":[3],
                             "jobs":[5,{"id":{}}],"ranges":[7],"job":[1]})"}) {
      EXPECT_FALSE(show(view, body).empty()) << view << body;
    }
  }
}

}  // namespace
}  // namespace larder::larderctl
