// SPDX-License-Identifier: Apache-2.0
// Answers that a test steers while a client reads them.    Threads: any; one lock each.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/http/message.h"

namespace larder::test {

// What a test says to a source while a client reads it, and what it learns back.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> pending;
  bool finish = false;
  bool endless = false;
  bool started = false;
  bool destroyed = false;
  std::size_t pulled_bytes = 0;
  std::function<void()> wake;

  void say(std::string text, bool last = false) {
    std::function<void()> call;
    {
      std::lock_guard lock(mutex);
      if (!text.empty()) pending.push_back(std::move(text));
      finish = finish || last;
      call = wake;
    }
    if (call) call();
  }
  bool wait(bool Script::*flag) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return this->*flag; });
  }
};

class ScriptedSource : public http::AnswerSource {
 public:
  explicit ScriptedSource(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptedSource() override {
    std::lock_guard lock(script_->mutex);
    script_->destroyed = true;
    script_->changed.notify_all();
  }
  void start(std::function<void()> wake) override {
    std::lock_guard lock(script_->mutex);
    script_->wake = std::move(wake);
    script_->started = true;
    script_->changed.notify_all();
  }
  http::AnswerPart pull() override {
    std::lock_guard lock(script_->mutex);
    http::AnswerPart part;
    if (script_->endless) script_->pending.push_back(std::string(4096, 'x'));
    if (script_->pending.empty() && !script_->finish) return part;
    part.has_head = !head_sent_;
    part.head.content_type = "text/event-stream";
    head_sent_ = true;
    for (const std::string& text : script_->pending) part.bytes += text;
    script_->pulled_bytes += part.bytes.size();
    script_->pending.clear();
    part.last = script_->finish;
    return part;
  }
  http::AnswerPart ping() override {
    http::AnswerPart part;
    part.has_head = !head_sent_;
    part.bytes = ": ping\n\n";
    head_sent_ = true;
    return part;
  }

 private:
  const std::shared_ptr<Script> script_;
  bool head_sent_ = false;
};

// Pulled again by time alone: answers at the third pull.
class RetryingSource : public http::AnswerSource {
 public:
  void start(std::function<void()> /*wake*/) override {}
  http::AnswerPart pull() override {
    http::AnswerPart part;
    if (++pulls_ < 3) {
      part.retry_ms = 5;
      return part;
    }
    part.has_head = part.last = true;
    part.head.body = "third";
    return part;
  }

 private:
  int pulls_ = 0;
};

}  // namespace larder::test
