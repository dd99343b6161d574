// SPDX-License-Identifier: Apache-2.0
// Lineages: under which identities blocks of one load lie that were rounded on their way down, because store.codec says
// so of all or because an admin said so of some (compress), and how far a codec may be trusted.
// Way:      attach (the weights are known) -> choose ... -> detach.
// Ensures:  what is sampled to lose more than the scheme's bound is rounded no more until the next attach: the choice
//           steps back to exact and says why. What an admin had rounded can be used whatever is chosen. Foreign
//           identities, of the same load under another arithmetic, are read only, by tenants that ask for it.
// Threads:  the engine thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "runtime/exec/kv_roundtrip.h"
#include "runtime/kv/block_key.h"
#include "runtime/kv/cold_block.h"
#include "storage/stored_block.h"

namespace larder::engine {

class Lineages {
 public:
  static constexpr std::uint32_t kSampleEvery = 32;  // blocks
  static constexpr std::size_t kSliceStep = 8;       // slices of a sampled block
  static constexpr std::size_t kMaxForeign = 4;

  // Relative error of one sample (root mean square, the worse of K and V) above which a scheme is not used.
  static double bound(kernels::KvScheme scheme);

  void attach(const std::shared_ptr<const kv::Identity>& exact, const kernels::KvLayout& layout,
              const kernels::KvCodecKernels& codec);
  void detach() { *this = Lineages(); }
  bool attached() const { return known_.front().identity != nullptr; }

  // kExact, or a scheme that the layout does not offer: nothing is rounded.  Requires: attached.
  void choose(kernels::KvScheme scheme);
  // The identity of copies that are rounded now; null: none are.
  const std::shared_ptr<const kv::Identity>& chosen() const { return chosen_; }
  // Of copies that an admin has rounded.  Errors: kUnsupported, why the scheme is not offered for the layout;
  // kConflict: it lost too much.
  Result<std::shared_ptr<const kv::Identity>> named(kernels::KvScheme scheme) const;
  // Where a prompt may look beside the exact tree, what loses least first.
  std::vector<std::shared_ptr<const kv::Identity>> readable() const;
  // An identity of the store that differs in its arithmetic alone; as it is called here. Null: kMaxForeign are known.
  std::shared_ptr<const kv::Identity> add_foreign(const kv::Identity& stored);
  const std::vector<std::shared_ptr<const kv::Identity>>& foreign() const { return foreign_; }
  // Every name under which a rounded copy of an exact block of this load may lie.
  std::vector<Digest256> rounded_digests() const;
  const std::shared_ptr<const kv::Identity>& identity_of(kernels::KvScheme scheme, bool by_name) const;
  const Digest256& digest_of(const kv::Identity& identity) const;
  // What the store calls the block, and in which scheme it keeps it.
  void name(storage::StoredBlock& stored, const kv::ColdBlock& cold) const;

  // The keys of the same prompt under another of these identities.
  static std::shared_ptr<const kv::PromptKeys> keys_under(const std::shared_ptr<const kv::PromptKeys>& keys,
                                                          const std::shared_ptr<const kv::Identity>& identity);

  // A block that is about to be rounded: now and then a part of it is coded, decoded and compared.
  // False: the scheme loses too much, so nothing is rounded to it from here.
  bool sample(const kv::Identity& lineage, std::uint32_t first_position, std::span<const std::byte> block,
              std::uint32_t valid_tokens);
  double sampled_error(kernels::KvScheme scheme) const;  // mean of the samples; 0: none yet
  const std::string& note() const { return note_; }  // why nothing is rounded although it was asked for

 private:
  struct Known {
    std::shared_ptr<const kv::Identity> identity;  // null: the layout does not offer the scheme
    Digest256 digest{};
  };
  struct Sampler {
    std::unique_ptr<exec::KvRoundTrip> trip;
    std::string fault;  // why there is none
    std::string refusal;
    std::uint32_t passed = 0;
    std::uint32_t samples = 0;
    double error_sum = 0;
  };

  static std::size_t place_of(kernels::KvScheme scheme, bool by_name);
  void refuse(kernels::KvScheme scheme, double error);

  std::array<Known, 2 * kernels::kKvSchemes> known_;
  std::array<Sampler, kernels::kKvSchemes> samplers_;
  std::shared_ptr<const kv::Identity> chosen_;
  std::vector<std::shared_ptr<const kv::Identity>> foreign_;  // by Identity::foreign, from 1
  std::vector<Digest256> foreign_digests_;
  kernels::KvLayout layout_{};
  std::string note_;
};

}  // namespace larder::engine
