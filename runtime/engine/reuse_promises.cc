// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/reuse_promises.h"

#include <algorithm>
#include <utility>

namespace larder::engine {
namespace {

using kernels::kBlockTokens;

std::string cause_of(const kv::Verdict& verdict) {
  switch (verdict.kind) {
    case kv::VerdictKind::kEvicted: {
      if (!verdict.eviction) return "it was evicted meanwhile";
      std::string text = "it was evicted meanwhile (" + verdict.eviction->policy + ")";
      if (verdict.eviction->by_request.value != 0) {
        text += " by request " + std::to_string(verdict.eviction->by_request.value);
      }
      return text;
    }
    case kv::VerdictKind::kDiverged:
      return verdict.divergence ? "the prompt parts from it at token " + std::to_string(verdict.divergence->token)
                                : "the prompt parts from it";
    case kv::VerdictKind::kOtherIdentity:
      return "the model's " + verdict.identity_part + " is another now";
    default:
      return "it is not in the tree any more";
  }
}

std::string cause_of_restore(const kv::Verdict& verdict) {
  if (verdict.restored.declined == "damaged") return "a copy did not hold or was gone";
  if (verdict.restored.declined == "stalled") return "reading fell behind";
  return cause_of(verdict);
}

// What was read for the request itself.
void check_restore(RequestId request, const kv::Verdict& verdict, std::vector<BrokenPromise>& broken) {
  const kv::Restored& restored = verdict.restored;
  if (2 * restored.tokens >= restored.promised) return;
  broken.push_back({JobId{}, "a restore promised " + std::to_string(restored.promised) + " tokens to request " +
                                 std::to_string(request.value) + ", which reused " + std::to_string(restored.tokens) +
                                 " of them: " + cause_of_restore(verdict)});
}

}  // namespace

void ReusePromises::add(Promise promise) {
  promises_.push_back(std::move(promise));
  if (promises_.size() > kMaxPromises) promises_.pop_front();
}

void ReusePromises::promise_blocks(JobId job, ModelId model, std::string what,
                                   const std::vector<kv::ChainKey>& blocks) {
  if (blocks.empty()) return;
  const std::size_t most = std::min(blocks.size(), kMaxPromised);
  const auto end = blocks.begin() + static_cast<std::ptrdiff_t>(most);
  add({job, model, std::move(what), false, {}, {blocks.begin(), end}});
}

void ReusePromises::promise_run(JobId job, ModelId model, std::string what, std::vector<kv::ChainKey> run) {
  if (run.empty()) return;
  if (run.size() > kMaxPromised) run.resize(kMaxPromised);
  add({job, model, std::move(what), true, std::move(run), {}});
}

std::optional<ReusePromises::Expected> ReusePromises::expected_of(Promise& promise, const kv::PromptKeys& keys) const {
  if (promise.whole) {
    const auto parts = std::mismatch(promise.run.begin(), promise.run.end(), keys.blocks.begin(), keys.blocks.end());
    const auto common = static_cast<std::size_t>(parts.first - promise.run.begin());
    if (common * 4 < promise.run.size()) return std::nullopt;
    const auto tokens = static_cast<std::uint32_t>(promise.run.size()) * kBlockTokens;
    promise.run.clear();
    return Expected{promise.job, promise.model, promise.what, 0, tokens};
  }
  Expected expected{promise.job, promise.model, promise.what, 0, 0};
  for (std::size_t i = 0; i < keys.blocks.size(); ++i) {
    if (promise.blocks.erase(keys.blocks[i]) == 0) continue;
    if (expected.tokens == 0) expected.from = static_cast<std::uint32_t>(i) * kBlockTokens;
    expected.tokens += kBlockTokens;
  }
  if (expected.tokens == 0) return std::nullopt;
  return expected;
}

void ReusePromises::prompted(RequestId request, ModelId model, const kv::PromptKeys& keys) {
  if (promises_.empty()) return;
  std::vector<Expected> all;
  for (Promise& promise : promises_) {
    if (promise.model != model) continue;
    if (std::optional<Expected> expected = expected_of(promise, keys)) all.push_back(std::move(*expected));
  }
  std::erase_if(promises_, [](const Promise& each) { return each.run.empty() && each.blocks.empty(); });
  if (!all.empty()) expected_[request] = std::move(all);
}

std::vector<BrokenPromise> ReusePromises::ended(RequestId request, const kv::Verdict& verdict) {
  std::vector<BrokenPromise> broken;
  if (verdict.prompt_tokens > 0) check_restore(request, verdict, broken);
  std::vector<Expected> all;
  if (const auto found = expected_.find(request); found != expected_.end()) {
    all = std::move(found->second);
    expected_.erase(found);
  }
  const bool kept = verdict.kind == kv::VerdictKind::kFullPrefix || verdict.kind == kv::VerdictKind::kBypassed;
  if (verdict.prompt_tokens == 0 || kept) all.clear();
  for (const Expected& expected : all) {
    const std::uint32_t reused =
        verdict.reused_tokens > expected.from ? std::min(verdict.reused_tokens - expected.from, expected.tokens) : 0;
    if (2 * reused >= expected.tokens) continue;
    broken.push_back({expected.job, expected.what + " promised " + std::to_string(expected.tokens) +
                                        " tokens to the next request, and request " + std::to_string(request.value) +
                                        " reused " + std::to_string(reused) + " of them: " + cause_of(verdict)});
  }
  broken_ += broken.size();
  if (!broken.empty()) last_broken_ = broken.back().text;
  return broken;
}

void ReusePromises::forget(ModelId model) {
  std::erase_if(promises_, [model](const Promise& each) { return each.model == model; });
  std::erase_if(expected_, [model](const auto& each) { return each.second.front().model == model; });
}

}  // namespace larder::engine
