// SPDX-License-Identifier: Apache-2.0
// kv_bench: what the prefix tree costs the engine thread. A prompt of 100,000 tokens in a tree of 10,000 nodes, keys
// chained before; exits with 1 when the median match takes more than 1 ms. Evictions and key chaining beside it.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/cpu/kernel_set.h"
#include "kernels/layout/half.h"
#include "runtime/base/rng.h"
#include "runtime/kv/prefix_cache.h"

namespace larder::bench {
namespace {

constexpr double kMostMs = 1.0;

double ms_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Rig {
 public:
  explicit Rig(std::uint32_t blocks)
      : cache_(kv::CacheOptions{blocks, blocks / 2, 0, &clock_, &history_, "host"},
               std::make_unique<storage::LeafLru>()) {}

  kv::OpenRequest request(std::vector<Token> tokens) {
    auto prompt = std::make_shared<PreparedPrompt>();
    prompt->tokens = std::move(tokens);
    kv::OpenRequest open;
    open.seq = SeqId{++next_};
    open.request = RequestId{next_};
    open.keys = std::make_shared<const kv::PromptKeys>(kv::chain_keys(scope_, identity_, "", prompt->tokens));
    open.prompt = std::move(prompt);
    return open;
  }

  void serve(std::vector<Token> tokens) {
    const auto length = static_cast<std::uint32_t>(tokens.size());
    kv::Claim claim = cache_.open(request(std::move(tokens)));
    if (!claim.grow(length).ok()) return;
    (void)claim.take_copies();
    claim.commit(length);
    (void)claim.close(kv::CloseAs::kDone);
  }

  kv::PrefixCache& cache() { return cache_; }

 private:
  SystemClock clock_;
  kv::ReuseHistory history_{65'536, 65'536};
  kv::PrefixCache cache_;
  tenant::Scope scope_ = std::make_shared<const tenant::ScopeKeyMaterial>(ScopeId{1}, ScopeSecret{2});
  std::shared_ptr<const kv::Identity> identity_ = std::make_shared<const kv::Identity>();
  std::uint64_t next_ = 0;
};

std::vector<Token> prompt(std::size_t shared, Token branch, std::size_t own) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < shared; ++i) tokens.push_back(static_cast<Token>(mix64(i) % 49'000));
  const std::uint64_t stream = static_cast<std::uint64_t>(branch) << 32;
  for (std::size_t i = 0; i < own; ++i) tokens.push_back(static_cast<Token>(mix64(stream + i) % 49'000));
  return tokens;
}

// Of this thread, so that what else runs on the machine counts little.
double cpu_ms_of(const std::function<void()>& work) {
  const auto now_ms = [] {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
  };
  const double begin = now_ms();
  work();
  return now_ms() - begin;
}

// Blocks of a model of 24 layers and 2 KV heads, more of them than the cores' caches hold.
void codec_speeds(const kernels::KernelSet& tier, kernels::KvScheme scheme, std::uint32_t d_head) {
  using namespace kernels;
  const KvLayout layout{24, 2, d_head, KvType::kF16};
  constexpr std::size_t kBlocks = 128;
  const std::size_t coded_slice = coded_slice_bytes(scheme, layout);
  std::vector<std::uint16_t> exact(kBlocks * layout.block_bytes() / sizeof(std::uint16_t));
  Rng rng(5);
  for (std::uint16_t& value : exact) value = f32_to_f16(static_cast<float>(rng.unit() * 4 - 2));
  std::vector<std::byte> coded(kBlocks * coded_block_bytes(scheme, layout));
  std::vector<std::byte> scratch(kv_codec_scratch_bytes(layout));
  auto* bytes = reinterpret_cast<std::byte*>(exact.data());
  const std::size_t slices = kBlocks * layout.slice_count();
  std::vector<double> encode, decode;
  for (int round = 0; round < 5; ++round) {
    encode.push_back(cpu_ms_of([&] {
      for (std::size_t i = 0; i < slices; ++i) {
        static_cast<void>(tier.codec.encode(
            {layout, scheme, bytes + i * layout.slice_bytes(), coded.data() + i * coded_slice, scratch.data()}));
      }
    }));
    decode.push_back(cpu_ms_of([&] {
      for (std::size_t i = 0; i < slices; ++i) {
        tier.codec.decode(
            {layout, scheme, coded.data() + i * coded_slice, bytes + i * layout.slice_bytes(), scratch.data()});
      }
    }));
  }
  const double megabytes = static_cast<double>(kBlocks * layout.block_bytes()) / 1e6;
  std::printf("  %-5s d %3u  %-8s  encode %6.2f GB/s, decode %6.2f GB/s, %.4f of the bytes\n", kv_scheme_name(scheme),
              d_head, tier.name, megabytes / median(encode), megabytes / median(decode),
              static_cast<double>(coded_slice) / static_cast<double>(layout.slice_bytes()));
}

void all_codec_speeds() {
  using kernels::IsaRequest;
  std::printf("coding of cold blocks, exact bytes per second of one core of %s\n", kernels::processor_name());
  for (const kernels::KvScheme scheme : {kernels::KvScheme::kInt8, kernels::KvScheme::kInt4}) {
    for (const std::uint32_t d_head : {64u, 128u}) {
      for (const IsaRequest tier : {IsaRequest::kPortable, IsaRequest::kAvx2, IsaRequest::kAvx512}) {
        const kernels::KernelSet* kernels = kernels::select_kernels(tier);
        if (kernels != nullptr) codec_speeds(*kernels, scheme, d_head);
      }
    }
  }
}

int run() {
  Rig rig(16'000);
  rig.serve(prompt(100'000, 0, 0));
  Rng rng(3);
  for (Token branch = 1; rig.cache().counts().nodes < 10'000; ++branch)
    rig.serve(prompt(rng.below(90'000), branch, 600));
  std::vector<double> match, open, chain;
  for (int round = 0; round < 31; ++round) {
    kv::OpenRequest request;
    std::vector<Token> tokens = prompt(100'000, 0, 0);
    chain.push_back(ms_of([&] { request = rig.request(std::move(tokens)); }));
    kv::Outlook outlook;
    match.push_back(ms_of([&] { outlook = rig.cache().outlook(*request.prompt, *request.keys); }));
    kv::Claim claim;
    open.push_back(ms_of([&] { claim = rig.cache().open(std::move(request)); }));
    if (outlook.cached_tokens != 99'999 || claim.reused_tokens() != 99'999) {
      std::printf("the match is wrong: %u and %u tokens\n", outlook.cached_tokens, claim.reused_tokens());
      return 1;
    }
  }
  std::printf("tree of %u nodes, prompt of 100,000 tokens (median of 31)\n", rig.cache().counts().nodes);
  std::printf("  keys chained, in preparation   %8.3f ms\n", median(chain));
  std::printf("  match                          %8.3f ms\n", median(match));
  std::printf("  match, verdict and references  %8.3f ms\n", median(open));
  const std::uint64_t before = rig.cache().counts().evicted_blocks;
  double evict_ms = 0;
  for (Token branch = 100; branch < 140; ++branch) {
    evict_ms += ms_of([&] { rig.serve(prompt(0, branch * 1000, 16'000)); });
  }
  const auto evicted = static_cast<double>(rig.cache().counts().evicted_blocks - before);
  std::printf("  a block evicted and made anew  %8.3f us\n", evict_ms * 1000 / evicted);
  const bool good = median(match) <= kMostMs && median(open) <= kMostMs;
  std::printf("%s: at most %.1f ms on the engine thread\n", good ? "good" : "TOO SLOW", kMostMs);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace larder::bench

int main() {
  larder::bench::all_codec_speeds();
  return larder::bench::run();
}
