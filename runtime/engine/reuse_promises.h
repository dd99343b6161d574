// SPDX-License-Identifier: Apache-2.0
// ReusePromises: what was brought up or warmed so that the next request need not compute it, and whether that request
// really reused it. Under half of it is a warning that names the cause. So is a request that reads for itself.
// Way:      promise (a job is done) -> prompted (a request's keys are known) -> ended (its verdict is).
// Bounds:   kMaxPromises, the oldest forgotten first, of kMaxPromised blocks each.    Threads: engine thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/kv/block_key.h"
#include "runtime/kv/verdict.h"

namespace larder::engine {

inline constexpr std::size_t kMaxPromises = 16;
inline constexpr std::size_t kMaxPromised = 65'536;

// A promise that was not kept.
struct BrokenPromise {
  JobId job{};       // 0: it was the request's own
  std::string text;  // no prompt text
};

class ReusePromises {
 public:
  // Whole blocks in any order: each is promised to the first prompt that goes through it.
  void promise_blocks(JobId job, ModelId model, std::string what, const std::vector<kv::ChainKey>& blocks);
  // One run from the root, which a prompt is meant to reuse as a whole once it agrees with a quarter of it.
  void promise_run(JobId job, ModelId model, std::string what, std::vector<kv::ChainKey> run);
  // A request's prompt goes this way in the model's tree: what was promised to it is not promised to others.
  void prompted(RequestId request, ModelId model, const kv::PromptKeys& keys);
  // It ended; the promises to it that were broken.  Nothing where it chose not to reuse or never began.
  std::vector<BrokenPromise> ended(RequestId request, const kv::Verdict& verdict);
  void forget(ModelId model);  // it is gone

  std::uint64_t broken() const { return broken_; }
  const std::string& last_broken() const { return last_broken_; }

 private:
  struct Promise {
    JobId job{};
    ModelId model{};
    std::string what;
    bool whole = false;
    std::vector<kv::ChainKey> run;  // of a whole one
    std::unordered_set<kv::ChainKey, DigestHash> blocks;
  };
  struct Expected {
    JobId job{};
    ModelId model{};
    std::string what;
    std::uint32_t from = 0;  // first token of it
    std::uint32_t tokens = 0;
  };

  std::optional<Expected> expected_of(Promise& promise, const kv::PromptKeys& keys) const;
  void add(Promise promise);

  std::deque<Promise> promises_;
  std::unordered_map<RequestId, std::vector<Expected>> expected_;
  std::uint64_t broken_ = 0;
  std::string last_broken_;
};

}  // namespace larder::engine
