// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/sources.h"

#include <optional>
#include <utility>

#include "runtime/base/mutex.h"
#include "runtime/http/control_answer.h"
#include "runtime/http/errors.h"

namespace larder::http {
namespace {

constexpr std::int64_t kSnapshotRetryMs = 20;
constexpr int kSnapshotTries = 25;

AnswerPart whole_part(Answer answer) {
  AnswerPart part;
  part.has_head = true;
  part.head = std::move(answer);
  part.last = true;
  return part;
}

// What both forms of a completion do with their stream.
class Completion : public AnswerSource {
 public:
  explicit Completion(std::shared_ptr<engine::TokenStream> stream) : stream_(std::move(stream)) {}
  ~Completion() override {
    if (!ended_) stream_->cancel();
  }
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  void start(std::function<void()> wake) override { stream_->set_wake(std::move(wake)); }

 protected:
  std::optional<engine::StreamEvent> next() { return stream_->next(0); }
  void ended() { ended_ = true; }

 private:
  const std::shared_ptr<engine::TokenStream> stream_;
  bool ended_ = false;
};

class Streamed : public Completion {
 public:
  Streamed(std::shared_ptr<engine::TokenStream> stream, AnswerShape shape)
      : Completion(std::move(stream)), codec_(std::move(shape)) {}

  AnswerPart pull() override {
    const std::optional<engine::StreamEvent> event = next();
    if (!event) return {};
    const bool failed = std::holds_alternative<Error>(*event);
    if (failed && !opened_) {
      ended();
      return whole_part(error_answer(std::get<Error>(*event)));
    }
    AnswerPart part = open();
    part.bytes = codec_.on(*event);
    if (!codec_.done()) return part;
    ended();
    part.last = true;
    part.head.close = failed;
    return part;
  }

  AnswerPart ping() override {
    AnswerPart part = open();
    part.bytes = StreamCodec::ping();
    return part;
  }

 private:
  AnswerPart open() {
    AnswerPart part;
    part.has_head = !opened_;
    part.head.content_type = "text/event-stream; charset=utf-8";
    part.head.headers.emplace_back("X-Accel-Buffering", "no");
    opened_ = true;
    return part;
  }

  StreamCodec codec_;
  bool opened_ = false;
};

class Whole : public Completion {
 public:
  Whole(std::shared_ptr<engine::TokenStream> stream, AnswerShape shape)
      : Completion(std::move(stream)), codec_(std::move(shape)) {}

  AnswerPart pull() override {
    while (const std::optional<engine::StreamEvent> event = next()) {
      std::optional<Result<std::string>> text = codec_.on(*event);
      if (!text) continue;
      ended();
      if (!text->ok()) return whole_part(error_answer(text->error()));
      Answer answer;
      answer.body = std::move(*text).value();
      return whole_part(std::move(answer));
    }
    return {};
  }

 private:
  WholeCodec codec_;
};

class VerbRun : public AnswerSource {
 public:
  VerbRun(engine::Engine& engine, engine::Principal who, engine::Verb verb)
      : engine_(engine), who_(std::move(who)), verb_(std::move(verb)), slot_(std::make_shared<Slot>()) {}

  void start(std::function<void()> wake) override {
    engine_.perform(who_, std::move(verb_), [slot = slot_, wake = std::move(wake)](Result<engine::VerbResult> result) {
      {
        MutexLock lock(slot->mutex);
        slot->result.emplace(std::move(result));
      }
      wake();
    });
  }

  AnswerPart pull() override {
    MutexLock lock(slot_->mutex);
    if (!slot_->result) return {};
    if (!slot_->result->ok()) return whole_part(error_answer(slot_->result->error()));
    Answer answer;
    const engine::VerbResult& result = **slot_->result;
    if (result.job && result.job->id.value != 0) {  // begun, not done
      answer.status = 202;
      answer.headers.emplace_back("Location", "/larder/v1/jobs/" + std::to_string(result.job->id.value));
    }
    answer.body = result_json(result);
    return whole_part(std::move(answer));
  }

 private:
  struct Slot {
    Mutex mutex;
    std::optional<Result<engine::VerbResult>> result GUARDED_BY(mutex);
  };

  engine::Engine& engine_;
  const engine::Principal who_;
  engine::Verb verb_;
  const std::shared_ptr<Slot> slot_;
};

class FreshSnapshot : public AnswerSource {
 public:
  FreshSnapshot(engine::Engine& engine, engine::Principal who, WallTime now,
                std::function<Answer(const engine::Snapshot&)> print)
      : engine_(engine), who_(std::move(who)), now_(now), print_(std::move(print)) {}

  void start(std::function<void()> /*wake*/) override {}

  AnswerPart pull() override {
    const std::shared_ptr<const engine::Snapshot> snapshot = engine_.snapshot(who_, 0);
    const bool fresh = snapshot && snapshot->at >= now_;
    if (!fresh && ++tries_ <= kSnapshotTries) {
      AnswerPart later;
      later.retry_ms = kSnapshotRetryMs;
      return later;
    }
    if (!snapshot) return whole_part(error_answer({ErrorCode::kUnavailable, "the engine has not answered yet", ""}));
    return whole_part(print_(*snapshot));
  }

 private:
  engine::Engine& engine_;
  const engine::Principal who_;
  const WallTime now_;
  const std::function<Answer(const engine::Snapshot&)> print_;
  int tries_ = 0;
};

}  // namespace

std::unique_ptr<AnswerSource> stream_answer(std::shared_ptr<engine::TokenStream> stream, AnswerShape shape) {
  return std::make_unique<Streamed>(std::move(stream), std::move(shape));
}

std::unique_ptr<AnswerSource> whole_answer(std::shared_ptr<engine::TokenStream> stream, AnswerShape shape) {
  return std::make_unique<Whole>(std::move(stream), std::move(shape));
}

std::unique_ptr<AnswerSource> verb_answer(engine::Engine& engine, engine::Principal who, engine::Verb verb) {
  return std::make_unique<VerbRun>(engine, std::move(who), std::move(verb));
}

std::unique_ptr<AnswerSource> snapshot_answer(engine::Engine& engine, engine::Principal who, WallTime now,
                                              std::function<Answer(const engine::Snapshot&)> print) {
  return std::make_unique<FreshSnapshot>(engine, std::move(who), now, std::move(print));
}

}  // namespace larder::http
