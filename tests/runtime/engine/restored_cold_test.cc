// SPDX-License-Identifier: Apache-2.0
// Restored = cold: hundreds of prompts are answered, the engine is closed and opened again, and what the disk gave
// back answers as the first time, to the last bit of every log-probability. That the disk gave it is counted, request
// by request and in the store. LARDER_RESTORED_PROMPTS sets how many (500).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/engine_rig.h"

namespace larder::test {
namespace {

using engine::Snapshot;

constexpr std::size_t kBlock = kernels::kBlockTokens;
constexpr std::size_t kAtOnce = 16;

std::size_t prompt_count() {
  const char* wanted = std::getenv("LARDER_RESTORED_PROMPTS");
  return wanted == nullptr ? 500 : std::strtoul(wanted, nullptr, 10);
}

struct Case {
  std::vector<Token> tokens;
  std::size_t shared = 0;  // tokens that an earlier prompt begins with; 0: a prompt of its own
  Collected cold;
  std::size_t blocks_to_read() const { return (tokens.size() + kBlock - 1) / kBlock - shared / kBlock; }
};

class RestoredOn : public ::testing::TestWithParam<bool> {
 protected:
  RestoredOn() {
    EngineRigOptions options;
    options.cpu = GetParam();
    options.store = true;
    // The tiny model computes about as fast as a disk reads; here everything is to come from disk.
    options.settings = {{"store.keep_free_bytes", "4096"}, {"store.restore", "always"}, {"pool.bytes", "134217728"}};
    rig_ = std::make_unique<EngineRig>(std::move(options));
    EXPECT_TRUE(rig_->wait_until([](const Snapshot& seen) {
      return !seen.models.empty() && seen.models.front().identity == engine::ModelInfo::Identity::kKnown;
    }));
  }

  std::vector<Token> random_tokens(std::size_t count) {
    std::vector<Token> tokens(count);
    for (Token& token : tokens) token = static_cast<Token>(3 + rng_.below(500));
    return tokens;
  }

  // Lengths of all kinds, those around a block's border more often; below 17 tokens nothing is restored.
  std::vector<Case> own_prompts(std::size_t count) {
    std::vector<Case> made(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t border = kBlock * (1 + rng_.below(5)) + rng_.below(3) - 1;
      made[i].tokens = random_tokens(i % 3 == 0 ? border : 18 + rng_.below(150));
    }
    return made;
  }

  std::vector<Case> sharing_prompts(std::size_t count, const std::vector<Case>& bases) {
    std::vector<Case> made(count);
    for (Case& one : made) {
      const std::vector<Token>& base = bases[rng_.below(bases.size())].tokens;
      one.shared = 1 + rng_.below(base.size());
      one.tokens.assign(base.begin(), base.begin() + static_cast<std::ptrdiff_t>(one.shared));
      // Another token than any base has, so that exactly `shared` are shared.
      one.tokens.push_back(static_cast<Token>(504 + rng_.below(7)));
      const std::vector<Token> rest = random_tokens(kBlock + rng_.below(60));
      one.tokens.insert(one.tokens.end(), rest.begin(), rest.end());
    }
    return made;
  }

  static engine::Request request_of(const Case& one, engine::CachePolicy cache) {
    engine::Request request = EngineRig::token_request(one.tokens, 6);
    request.sampling.top_logprobs = 20;
    request.cache = cache;
    return request;
  }

  std::vector<Collected> ask_all(const std::vector<Case>& cases, engine::CachePolicy cache) {
    std::vector<Collected> answers;
    for (std::size_t from = 0; from < cases.size(); from += kAtOnce) {
      std::vector<std::shared_ptr<engine::TokenStream>> streams;
      for (std::size_t i = from; i < std::min(cases.size(), from + kAtOnce); ++i) {
        streams.push_back(rig_->submit(rig_->admin(), request_of(cases[i], cache)));
      }
      for (const auto& stream : streams) answers.push_back(rig_->collect(*stream));
    }
    return answers;
  }

  // What each prompt says without any reuse; then it leaves its blocks to be stored.
  void learn(std::vector<Case>& cases) {
    std::vector<Collected> cold = ask_all(cases, engine::CachePolicy::kBypass);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_TRUE(cold[i].ok());
      EXPECT_EQ(cold[i].finished->usage.cached_tokens, 0u);
      cases[i].cold = std::move(cold[i]);
    }
    ask_all(cases, engine::CachePolicy::kDefault);
    for (const Case& one : cases) to_store_ += one.blocks_to_read();
    EXPECT_TRUE(rig_->wait_until([&](const Snapshot& seen) {
      return seen.store.stored_blocks >= to_store_ && seen.store.queued_blocks == 0;
    })) << rig_->fresh(rig_->admin())->store.reason;
  }

  struct Seen {
    std::size_t equal = 0;          // answers with the cold one's bits
    std::size_t whole = 0;          // whose prompt was restored but for what it shares with an earlier one
    std::uint64_t restored = 0;     // tokens
    std::uint64_t read_blocks = 0;  // as the store counts them
  };
  Seen ask_again(const std::vector<Case>& cases) {
    Seen seen;
    const std::uint64_t before = rig_->fresh(rig_->admin())->store.read_blocks;
    const std::vector<Collected> again = ask_all(cases, engine::CachePolicy::kDefault);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_TRUE(again[i].ok());
      if (!again[i].ok()) continue;
      const bool same = again[i].tokens == cases[i].cold.tokens && again[i].logprobs == cases[i].cold.logprobs;
      EXPECT_TRUE(same) << "prompt of " << cases[i].tokens.size() << " tokens, " << cases[i].shared << " shared";
      seen.equal += same ? 1 : 0;
      const kv::Verdict& verdict = again[i].finished->verdict;
      seen.restored += verdict.restored.tokens;
      const bool whole = verdict.tier == "disk" && verdict.computed_tokens == 1 &&
                         verdict.restored.tokens + cases[i].shared + 1 >= cases[i].tokens.size();
      seen.whole += whole ? 1 : 0;
    }
    seen.read_blocks = rig_->fresh(rig_->admin())->store.read_blocks - before;
    return seen;
  }

  // One byte of every page behind the files' headers.
  void damage_every_page() {
    for (const auto& file : std::filesystem::recursive_directory_iterator(rig_->folder() + "/data/segments")) {
      if (!file.is_regular_file()) continue;
      const auto size = std::filesystem::file_size(file);
      std::fstream bytes(file.path(), std::ios::in | std::ios::out | std::ios::binary);
      for (std::uintmax_t at = 4096; at < size; at += 4096) {
        bytes.seekg(static_cast<std::streamoff>(at + 1234));
        const int old = bytes.get();
        bytes.seekp(static_cast<std::streamoff>(at + 1234));
        bytes.put(static_cast<char>(old ^ 0x10));
      }
    }
  }

  std::unique_ptr<EngineRig> rig_;
  Rng rng_{404};
  std::uint64_t to_store_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Device, RestoredOn, ::testing::Bool(),
                         [](const auto& device) { return device.param ? "cpu" : "fake"; });

TEST_P(RestoredOn, EqualsColdBitForBitAfterARestart) {
  const std::size_t count = prompt_count();
  std::vector<Case> own = own_prompts(count - count / 5);
  std::vector<Case> sharing = sharing_prompts(count / 5, own);
  learn(own);
  learn(sharing);
  rig_->reopen();
  std::size_t equal = 0;
  for (const std::vector<Case>* cases : {&own, &sharing}) {
    const Seen seen = ask_again(*cases);
    std::uint64_t blocks = 0;
    for (const Case& one : *cases) blocks += one.blocks_to_read();
    EXPECT_EQ(seen.read_blocks, blocks);
    EXPECT_EQ(seen.whole, cases->size());
    equal += seen.equal;
  }
  EXPECT_EQ(equal, count);
  std::printf("%zu of %zu prompts bit-equal after a restart, read from disk\n", equal, count);
}

// The control: where the copies are damaged the same counters stay at nothing, and the answers are right all the same.
TEST_P(RestoredOn, DamagedCopiesAreCountedAndNeverAnswer) {
  std::vector<Case> own = own_prompts(50);
  learn(own);
  rig_->reopen();
  damage_every_page();
  const Seen seen = ask_again(own);
  EXPECT_EQ(seen.equal, own.size());
  EXPECT_EQ(seen.whole, 0u);
  EXPECT_EQ(seen.restored, 0u);
  EXPECT_EQ(seen.read_blocks, 0u);
  EXPECT_GE(rig_->fresh(rig_->admin())->store.damaged_blocks, own.size());
}

}  // namespace
}  // namespace larder::test
