// SPDX-License-Identifier: Apache-2.0
// TokenStream: the bounded way of one request's answer from the engine thread to its reader.
// Bounds:   at most kMaxPending events; when the reader is slower, the sequence is paused, not dropped.
// Ensures:  text pieces are whole UTF-8 (a character is never cut) and never contain a stop string; the last event is a
//           Finish or a Failure, exactly once.
// Errors:   write may throw for want of memory, and has written nothing then, or has not woken the reader yet; end
//           needs none where its event needs none.
// Threads:  one writer (engine), one reader (HTTP or GUI). cancel from any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "runtime/base/ids.h"
#include "runtime/base/mutex.h"
#include "runtime/base/result.h"
#include "runtime/base/section.h"
#include "runtime/kv/verdict.h"
#include "runtime/sample/sampler.h"

namespace larder::engine {

// First event: what was found before any row was computed.
struct Started {
  RequestId request{};
  std::string model;
  kv::Verdict verdict;  // as the requester may see it (DESIGN.md contract 8)
  std::vector<Section> sections;
};

struct TokenText {
  Token token = -1;
  std::string text;  // this token's own bytes: perhaps a part of a character
  float logprob = 0;
  std::vector<std::pair<std::string, float>> top;
};

struct Piece {
  std::uint32_t choice = 0;
  std::string text;
  std::vector<TokenText> tokens;  // filled when logprobs were asked for
};

enum class FinishReason : std::uint8_t { kStop, kLength, kCancelled };

struct ChoiceDone {
  std::uint32_t choice = 0;
  FinishReason reason = FinishReason::kStop;
};

struct Usage {
  std::uint32_t prompt_tokens = 0;
  std::uint32_t cached_tokens = 0;
  std::uint32_t completion_tokens = 0;
};

struct Timings {
  double queue_ms = 0;
  double prepare_ms = 0;  // template, tokenizer, keys
  double match_ms = 0;
  double prefill_ms = 0;
  double first_token_ms = 0;  // from submission
  double total_ms = 0;
  double decode_tokens_per_s = 0;
};

struct Finished {
  Usage usage;
  Timings timings;
  kv::Verdict verdict;
  std::vector<TokenText> prompt_logprobs;  // echo_logprobs: every prompt token; the first has no score
};

using StreamEvent = std::variant<Started, Piece, ChoiceDone, Finished, Error>;

class TokenStream {
 public:
  static constexpr std::size_t kMaxPending = 256;

  explicit TokenStream(RequestId request) : request_(request) {}

  RequestId request() const { return request_; }

  // Reader side. next waits at most wait_ms (0: does not wait); nothing when none came in time or all were read.
  std::optional<StreamEvent> next(std::int64_t wait_ms) EXCLUDES(mutex_);
  // Called, on the writer's thread and at once when events are waiting already, each time events appear on an empty
  // stream. Must not block or call back into the stream.
  void set_wake(std::function<void()> wake) EXCLUDES(mutex_);
  void cancel() EXCLUDES(mutex_);

  // Writer side.
  bool writable() const EXCLUDES(mutex_);  // false: pause the sequence
  bool cancelled() const EXCLUDES(mutex_);
  void write(StreamEvent event) EXCLUDES(mutex_);
  // The last event. False: there was no memory to wake the reader; see wake_again.
  [[nodiscard]] bool end(StreamEvent event) noexcept EXCLUDES(mutex_);
  [[nodiscard]] bool wake_again() noexcept EXCLUDES(mutex_);
  // on_room: after a full stream got room again; on_cancel: once, when the reader cancels. Called on the reader's
  // thread outside the stream's lock; neither is called once the last event is written.
  void set_writer_hooks(std::function<void()> on_room, std::function<void()> on_cancel) EXCLUDES(mutex_);

 private:
  bool empty() const REQUIRES(mutex_) { return pending_.empty() && !last_; }
  void wake() REQUIRES(mutex_);

  const RequestId request_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::deque<StreamEvent> pending_ GUARDED_BY(mutex_);
  std::optional<StreamEvent> last_ GUARDED_BY(mutex_);  // it has a place of its own, so that it always finds one
  std::function<void()> wake_ GUARDED_BY(mutex_);
  std::function<void()> on_room_ GUARDED_BY(mutex_);
  std::function<void()> on_cancel_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
  bool ended_ GUARDED_BY(mutex_) = false;
  bool owes_wake_ GUARDED_BY(mutex_) = false;
};

}  // namespace larder::engine
