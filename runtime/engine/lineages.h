// SPDX-License-Identifier: Apache-2.0
// Lineages: under which identities blocks of one load lie that store.codec rounds on their way down, and how far the
// codec may be trusted. A lineage that was chosen once keeps its identity until the model goes, so that what lies under
// it is found again when it is chosen again.
// Way:      attach (the weights are known) -> choose ... -> detach.
// Ensures:  what is sampled to lose more than the scheme's bound is rounded no more until the next attach: the choice
//           steps back to exact and says why.
// Threads:  the engine thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/layout/kv_codec.h"
#include "runtime/exec/kv_roundtrip.h"
#include "runtime/kv/block_key.h"

namespace larder::engine {

class Lineages {
 public:
  static constexpr std::uint32_t kSampleEvery = 32;  // blocks
  static constexpr std::size_t kSliceStep = 8;       // slices of a sampled block

  // Relative error of one sample (root mean square, the worse of K and V) above which a scheme is not used.
  static double bound(kernels::KvScheme scheme);

  void attach(std::shared_ptr<const kv::Identity> exact, const kernels::KvLayout& layout,
              const kernels::KvCodecKernels& codec);
  void detach() { *this = Lineages(); }

  // kExact, or a scheme that the layout does not offer: nothing is rounded.  Requires: attached.
  void choose(kernels::KvScheme scheme);
  // The identity of copies that are rounded now; null: none are.
  const std::shared_ptr<const kv::Identity>& chosen() const { return chosen_; }
  // Of a lineage that was chosen since attach, or exact.
  const std::shared_ptr<const kv::Identity>& identity_of(kernels::KvScheme scheme) const;
  const Digest256& digest_of(kernels::KvScheme scheme) const;

  // The keys of the same prompt under another of these identities.
  static std::shared_ptr<const kv::PromptKeys> keys_under(const std::shared_ptr<const kv::PromptKeys>& keys,
                                                          const std::shared_ptr<const kv::Identity>& identity);

  // A block that is about to be rounded: now and then a part of it is coded, decoded and compared.
  // False: the scheme loses too much, so nothing is rounded from here.
  bool sample(std::span<const std::byte> block, std::uint32_t valid_tokens);
  double sampled_error() const { return samples_ > 0 ? error_sum_ / samples_ : 0; }
  const std::string& note() const { return note_; }  // why nothing is rounded although it was asked for

 private:
  struct Known {
    std::shared_ptr<const kv::Identity> identity;
    Digest256 digest{};
  };

  std::array<Known, kernels::kKvSchemes> known_;
  std::shared_ptr<const kv::Identity> chosen_;
  kernels::KvLayout layout_{};
  kernels::KvCodecKernels codec_{};
  std::unique_ptr<exec::KvRoundTrip> trip_;
  std::array<bool, kernels::kKvSchemes> refused_{};
  std::string note_;
  std::uint32_t passed_ = 0;
  std::uint32_t samples_ = 0;
  double error_sum_ = 0;
};

}  // namespace larder::engine
