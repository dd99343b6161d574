// SPDX-License-Identifier: Apache-2.0
// Digests: of a model file's bytes, and of everything that must be equal for KV state to be reused (the identity).
// Weights digest: BLAKE2b-256 over the whole file's size and the BLAKE2b-256 digests of its 64 MiB leaves, in order;
//                 2 threads hash the leaves. A small cache file remembers it by device, inode, size and times.
// Identity digest: BLAKE2b-256 over (tag, length, bytes) of each part, so that no two part lists give the same input.
// Errors:   kCancelled. An unreadable or damaged cache is only a miss.
// Threads:  pure functions; weights_digest blocks (1 s per GB) and belongs on a loader thread.
// Source:   BLAKE2b, RFC 7693, through libsodium.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "runtime/model/config.h"

namespace larder::gguf {
class File;
}

namespace larder::model {

inline constexpr std::uint64_t kDigestLeafBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t kMaxDigestCacheEntries = 256;  // the oldest give way

struct DigestOptions {
  std::string cache_path;                     // empty: no cache
  std::function<void(double)> progress;       // 0..1, from the hashing threads, one call at a time; may be empty
  const std::atomic<bool>* cancel = nullptr;  // read per MiB
};

Result<Digest256> weights_digest(const gguf::File& file, const DigestOptions& options);

// What decides the bits of KV state besides the tokens. Adapter bytes join here when there are adapters.
struct IdentityParts {
  Digest256 weights{};
  float rope_base = 0;
  float rope_scale = 0;
  std::uint32_t n_rot = 0;
  bool rope_interleaved = true;
  kernels::KvType kv_type = kernels::KvType::kF16;
  std::uint32_t layout_version = kernels::kKvLayoutVersion;
  std::string arithmetic_id;
};

IdentityParts identity_parts(const ModelConfig& config, const Digest256& weights, kernels::KvType kv_type,
                             std::string arithmetic_id);
Digest256 identity_digest(const IdentityParts& parts);

// The part in which two identities differ, in the order weights, rope, kv_type, arithmetic; empty when equal.
std::string first_difference(const IdentityParts& a, const IdentityParts& b);

std::string to_hex(const Digest256& digest);

}  // namespace larder::model
