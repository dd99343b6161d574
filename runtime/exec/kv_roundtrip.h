// SPDX-License-Identifier: Apache-2.0
// KvRoundTrip: what a scheme of kernels/layout/kv_codec.h loses on KV that is there: slices are coded and decoded again
// and compared with what they were. For sampling what a running codec loses, and for measuring a model.
// What it is not: it stores nothing and knows no tiers.
// Requires: a block of the layout it was made for, which nobody writes meanwhile.
// Errors:   create: kUnsupported, why the scheme is not offered for the layout; kInvalidArgument: kernels without
// codecs. Owns:     scratch of three slices.    Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "runtime/base/result.h"

namespace larder::exec {

// The codecs of this processor; every tier's give the same bits.
kernels::KvCodecKernels kv_codec();

// Differences of K or of V over the valid tokens, as plain values.
struct KvDifference {
  std::uint64_t values = 0;
  double largest = 0;
  double sum = 0;  // of magnitudes
  double squares = 0;
  double exact_squares = 0;  // of the values themselves

  void add(const KvDifference& other);
  double mean() const { return values > 0 ? sum / static_cast<double>(values) : 0; }
  double relative() const;  // root of squares over exact_squares; 0 where all is zero
};

struct KvLoss {
  KvDifference k;
  KvDifference v;
  std::uint64_t dropped = 0;  // values that were not finite: such a block must not be coded

  void add(const KvLoss& other);
};

class KvRoundTrip {
 public:
  static Result<KvRoundTrip> create(const kernels::KvCodecKernels& codec, kernels::KvScheme scheme,
                                    const kernels::KvLayout& layout);

  // Slices first, first + step, first + 2 step, …: a sample of a large block costs microseconds.
  KvLoss measure(std::span<const std::byte> block, std::uint32_t valid_tokens, std::size_t first = 0,
                 std::size_t step = 1);
  // The whole block becomes what would come back from a tier that holds it in the scheme.
  KvLoss apply(std::span<std::byte> block, std::uint32_t valid_tokens);

 private:
  KvRoundTrip(const kernels::KvCodecKernels& codec, kernels::KvScheme scheme, const kernels::KvLayout& layout);
  KvLoss one_slice(const std::byte* exact, std::uint32_t valid_tokens);
  KvDifference compare(const std::byte* exact, const std::byte* decoded, std::uint32_t valid_tokens, bool v) const;
  double value(const std::byte* slice, std::size_t index) const;

  kernels::KvCodecKernels codec_;
  kernels::KvScheme scheme_;
  kernels::KvLayout layout_;
  std::vector<std::byte> coded_;
  std::vector<std::byte> decoded_;
  std::vector<std::byte> scratch_;
};

}  // namespace larder::exec
