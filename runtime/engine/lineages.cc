// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/lineages.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/base/invariant.h"
#include "runtime/base/log.h"

namespace larder::engine {
namespace {

std::size_t index_of(kernels::KvScheme scheme) { return static_cast<std::size_t>(scheme); }

}  // namespace

double Lineages::bound(kernels::KvScheme scheme) {
  switch (scheme) {
    case kernels::KvScheme::kExact:
      return 0;
    case kernels::KvScheme::kInt8:
      return 0.03;
    case kernels::KvScheme::kInt4:
      return 0.20;
  }
  return 0;
}

void Lineages::attach(std::shared_ptr<const kv::Identity> exact, const kernels::KvLayout& layout,
                      const kernels::KvCodecKernels& codec) {
  INVARIANT(exact != nullptr && exact->weights_known);
  *this = Lineages();
  layout_ = layout;
  codec_ = codec;
  known_[0] = {exact, kv::identity_digest(*exact)};
}

void Lineages::choose(kernels::KvScheme scheme) {
  INVARIANT(known_[0].identity != nullptr);
  if (chosen_ != nullptr && chosen_->lineage == scheme) return;
  chosen_.reset();
  trip_.reset();
  passed_ = samples_ = 0;
  error_sum_ = 0;
  if (scheme == kernels::KvScheme::kExact) {
    note_.clear();
    return;
  }
  if (refused_[index_of(scheme)]) return;
  note_.clear();
  Result<exec::KvRoundTrip> trip = exec::KvRoundTrip::create(codec_, scheme, layout_);
  if (!trip.ok()) {
    note_ = trip.error().message;
    return;
  }
  trip_ = std::make_unique<exec::KvRoundTrip>(std::move(trip).value());
  Known& known = known_[index_of(scheme)];
  if (known.identity == nullptr) {
    auto rounded = std::make_shared<kv::Identity>(*known_[0].identity);
    rounded->lineage = scheme;
    known = {rounded, kv::identity_digest(*rounded)};
  }
  chosen_ = known.identity;
}

const std::shared_ptr<const kv::Identity>& Lineages::identity_of(kernels::KvScheme scheme) const {
  const Known& known = known_[index_of(scheme)];
  INVARIANT(known.identity != nullptr);
  return known.identity;
}

const Digest256& Lineages::digest_of(kernels::KvScheme scheme) const {
  const Known& known = known_[index_of(scheme)];
  INVARIANT(known.identity != nullptr);
  return known.digest;
}

std::shared_ptr<const kv::PromptKeys> Lineages::keys_under(const std::shared_ptr<const kv::PromptKeys>& keys,
                                                           const std::shared_ptr<const kv::Identity>& identity) {
  if (keys->identity == identity) return keys;
  auto other = std::make_shared<kv::PromptKeys>(*keys);
  other->identity = identity;
  return other;
}

bool Lineages::sample(std::span<const std::byte> block, std::uint32_t valid_tokens) {
  INVARIANT(chosen_ != nullptr);
  if (passed_++ % kSampleEvery != 0) return true;
  const std::size_t first = passed_ / kSampleEvery % kSliceStep;
  const exec::KvLoss loss = trip_->measure(block, valid_tokens, first, kSliceStep);
  const double error = std::max(loss.k.relative(), loss.v.relative());
  ++samples_;
  error_sum_ += error;
  if (std::isfinite(error) && error <= bound(chosen_->lineage)) return true;
  const kernels::KvScheme scheme = chosen_->lineage;
  refused_[index_of(scheme)] = true;
  note_ = std::string(kernels::kv_scheme_name(scheme)) + " lost " + std::to_string(error * 100) +
          " % of a sampled block, more than it may: blocks are stored exact until the model is loaded again";
  log::warning("store", note_);
  chosen_.reset();
  trip_.reset();
  return false;
}

}  // namespace larder::engine
