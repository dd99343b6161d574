// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/kv_roundtrip.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/kernel_set.h"
#include "kernels/layout/half.h"
#include "runtime/base/invariant.h"

namespace larder::exec {

kernels::KvCodecKernels kv_codec() { return kernels::select_kernels(kernels::IsaRequest::kAuto)->codec; }

void KvDifference::add(const KvDifference& other) {
  values += other.values;
  largest = std::max(largest, other.largest);
  sum += other.sum;
  squares += other.squares;
  exact_squares += other.exact_squares;
}

double KvDifference::relative() const { return exact_squares > 0 ? std::sqrt(squares / exact_squares) : 0; }

void KvLoss::add(const KvLoss& other) {
  k.add(other.k);
  v.add(other.v);
  dropped += other.dropped;
}

Result<KvRoundTrip> KvRoundTrip::create(const kernels::KvCodecKernels& codec, kernels::KvScheme scheme,
                                        const kernels::KvLayout& layout) {
  const kernels::KvSchemeFault fault = kernels::kv_scheme_fault(scheme, layout);
  if (fault != kernels::KvSchemeFault::kNone) {
    const char* name = kernels::kv_scheme_name(scheme);
    return Error{ErrorCode::kUnsupported,
                 std::string("KV cannot be coded as ") + (name != nullptr ? name : "an unknown scheme") + ": " +
                     kernels::kv_scheme_fault_text(fault),
                 "head dimension " + std::to_string(layout.d_head)};
  }
  if (codec.encode == nullptr || codec.decode == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "the kernels given have no codecs", {}};
  }
  return KvRoundTrip(codec, scheme, layout);
}

KvRoundTrip::KvRoundTrip(const kernels::KvCodecKernels& codec, kernels::KvScheme scheme,
                         const kernels::KvLayout& layout)
    : codec_(codec),
      scheme_(scheme),
      layout_(layout),
      coded_(kernels::coded_slice_bytes(scheme, layout)),
      decoded_(layout.slice_bytes()),
      scratch_(kernels::kv_codec_scratch_bytes(layout)) {}

KvLoss KvRoundTrip::measure(std::span<const std::byte> block, std::uint32_t valid_tokens, std::size_t first,
                            std::size_t step) {
  INVARIANT(block.size() == layout_.block_bytes() && step > 0);
  KvLoss loss;
  for (std::size_t slice = first; slice < layout_.slice_count(); slice += step) {
    loss.add(one_slice(block.data() + slice * layout_.slice_bytes(), valid_tokens));
  }
  return loss;
}

KvLoss KvRoundTrip::apply(std::span<std::byte> block, std::uint32_t valid_tokens) {
  INVARIANT(block.size() == layout_.block_bytes());
  KvLoss loss;
  for (std::size_t slice = 0; slice < layout_.slice_count(); ++slice) {
    std::byte* exact = block.data() + slice * layout_.slice_bytes();
    loss.add(one_slice(exact, valid_tokens));
    std::copy(decoded_.begin(), decoded_.end(), exact);
  }
  return loss;
}

KvLoss KvRoundTrip::one_slice(const std::byte* exact, std::uint32_t valid_tokens) {
  KvLoss loss;
  loss.dropped = codec_.encode({layout_, scheme_, exact, coded_.data(), scratch_.data()});
  codec_.decode({layout_, scheme_, coded_.data(), decoded_.data(), scratch_.data()});
  loss.k = compare(exact, decoded_.data(), valid_tokens, false);
  loss.v = compare(exact, decoded_.data(), valid_tokens, true);
  return loss;
}

double KvRoundTrip::value(const std::byte* slice, std::size_t index) const {
  if (layout_.type == kernels::KvType::kF32) {
    float value = 0;
    std::memcpy(&value, slice + index * sizeof value, sizeof value);
    return double{value};
  }
  std::uint16_t half = 0;
  std::memcpy(&half, slice + index * sizeof half, sizeof half);
  return double{kernels::f16_to_f32(half)};
}

KvDifference KvRoundTrip::compare(const std::byte* exact, const std::byte* decoded, std::uint32_t valid_tokens,
                                  bool v) const {
  KvDifference found;
  const std::size_t side = std::size_t{kernels::kBlockTokens} * layout_.d_head;
  for (std::uint32_t token = 0; token < valid_tokens; ++token) {
    for (std::size_t i = 0; i < layout_.d_head; ++i) {
      const std::size_t index = v ? side + i * kernels::kBlockTokens + token : token * layout_.d_head + i;
      const double was = value(exact, index);
      const double error = std::abs(value(decoded, index) - was);
      found.largest = std::max(found.largest, error);
      found.sum += error;
      found.squares += error * error;
      found.exact_squares += was * was;
    }
  }
  found.values = std::uint64_t{valid_tokens} * layout_.d_head;
  return found;
}

}  // namespace larder::exec
