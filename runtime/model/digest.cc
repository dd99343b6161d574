// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/digest.h"

#include <sodium.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/base/invariant.h"
#include "runtime/base/mutex.h"
#include "runtime/gguf/file.h"
#include "runtime/model/digest_cache.h"

namespace larder::model {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
constexpr unsigned kHashThreads = 2;

// BLAKE2b-256 fed in pieces. Integers go in as 8 bytes, least significant first.
class Hasher {
 public:
  Hasher() { INVARIANT(crypto_generichash_init(&state_, nullptr, 0, sizeof(Digest256)) == 0); }

  void bytes(const void* data, std::size_t size) {
    INVARIANT(crypto_generichash_update(&state_, static_cast<const unsigned char*>(data), size) == 0);
  }
  void number(std::uint64_t value) {
    unsigned char little[8];
    for (unsigned i = 0; i < 8; ++i) little[i] = static_cast<unsigned char>(value >> (8 * i));
    bytes(little, sizeof little);
  }
  void part(std::string_view tag, std::string_view value) {
    number(tag.size());
    bytes(tag.data(), tag.size());
    number(value.size());
    bytes(value.data(), value.size());
  }
  Digest256 finish() {
    Digest256 digest;
    INVARIANT(crypto_generichash_final(&state_, digest.data(), digest.size()) == 0);
    return digest;
  }

 private:
  crypto_generichash_state state_;
};

// The leaves of one file: threads take them by number until none is left or the caller cancels.
class LeafHashing {
 public:
  LeafHashing(std::span<const std::byte> bytes, const DigestOptions& options)
      : bytes_(bytes), options_(options), leaves_((bytes.size() + kDigestLeafBytes - 1) / kDigestLeafBytes) {}

  // Answers false when cancelled.
  bool run() {
    std::vector<std::thread> threads;
    for (unsigned i = 1; i < std::min<std::size_t>(kHashThreads, leaves_.size()); ++i) {
      threads.emplace_back([this] { take_leaves(); });
    }
    take_leaves();
    for (std::thread& thread : threads) thread.join();
    return !cancelled();
  }

  const std::vector<Digest256>& leaves() const { return leaves_; }

 private:
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed); }

  void take_leaves() {
    for (std::size_t leaf = next_.fetch_add(1); leaf < leaves_.size() && !cancelled(); leaf = next_.fetch_add(1)) {
      const std::size_t begin = leaf * kDigestLeafBytes;
      hash_leaf(bytes_.subspan(begin, std::min<std::size_t>(kDigestLeafBytes, bytes_.size() - begin)), leaves_[leaf]);
    }
  }

  void hash_leaf(std::span<const std::byte> leaf, Digest256& out) {
    Hasher hasher;
    while (!leaf.empty() && !cancelled()) {
      const std::size_t size = std::min(kPieceBytes, leaf.size());
      hasher.bytes(leaf.data(), size);
      leaf = leaf.subspan(size);
      report(size);
    }
    out = hasher.finish();
  }

  void report(std::size_t hashed) EXCLUDES(mutex_) {
    if (!options_.progress) return;
    MutexLock lock(mutex_);
    hashed_ += hashed;
    options_.progress(static_cast<double>(hashed_) / static_cast<double>(bytes_.size()));
  }

  const std::span<const std::byte> bytes_;
  const DigestOptions& options_;
  std::vector<Digest256> leaves_;
  std::atomic<std::size_t> next_{0};
  Mutex mutex_;
  std::uint64_t hashed_ GUARDED_BY(mutex_) = 0;
};

std::string number_text(std::uint64_t value) { return std::to_string(value); }

}  // namespace

Result<Digest256> weights_digest(const gguf::File& file, const DigestOptions& options) {
  const bool cacheable = !options.cache_path.empty() && file.stamp().inode != 0;
  if (cacheable) {
    if (const auto known = find_cached_digest(options.cache_path, file.stamp())) return *known;
  }
  LeafHashing hashing(file.bytes(), options);
  if (!hashing.run()) return Error{ErrorCode::kCancelled, "hashing the model was cancelled", file.path()};
  Hasher root;
  root.part("larder weights", "1");
  root.number(file.bytes().size());
  for (const Digest256& leaf : hashing.leaves()) root.bytes(leaf.data(), leaf.size());
  const Digest256 digest = root.finish();
  if (cacheable) store_cached_digest(options.cache_path, file.stamp(), digest);
  return digest;
}

IdentityParts identity_parts(const ModelConfig& config, const Digest256& weights, kernels::KvType kv_type,
                             std::string arithmetic_id) {
  IdentityParts parts;
  parts.weights = weights;
  parts.rope_base = config.rope_base;
  parts.rope_scale = config.rope_scale;
  parts.n_rot = config.n_rot;
  parts.rope_interleaved = config.rope_interleaved;
  parts.kv_type = kv_type;
  parts.arithmetic_id = std::move(arithmetic_id);
  return parts;
}

Digest256 identity_digest(const IdentityParts& parts) {
  std::string weights(parts.weights.size(), '\0');
  std::memcpy(weights.data(), parts.weights.data(), weights.size());
  Hasher hasher;
  hasher.part("larder identity", "1");
  hasher.part("weights", weights);
  hasher.part("rope_base", number_text(std::bit_cast<std::uint32_t>(parts.rope_base)));
  hasher.part("rope_scale", number_text(std::bit_cast<std::uint32_t>(parts.rope_scale)));
  hasher.part("n_rot", number_text(parts.n_rot));
  hasher.part("rope_interleaved", parts.rope_interleaved ? "1" : "0");
  hasher.part("kv_type", number_text(static_cast<std::uint64_t>(parts.kv_type)));
  hasher.part("layout", number_text(parts.layout_version));
  hasher.part("arithmetic", parts.arithmetic_id);
  return hasher.finish();
}

std::string first_difference(const IdentityParts& a, const IdentityParts& b) {
  if (a.weights != b.weights) return "weights";
  if (std::bit_cast<std::uint32_t>(a.rope_base) != std::bit_cast<std::uint32_t>(b.rope_base) ||
      std::bit_cast<std::uint32_t>(a.rope_scale) != std::bit_cast<std::uint32_t>(b.rope_scale) || a.n_rot != b.n_rot ||
      a.rope_interleaved != b.rope_interleaved) {
    return "rope";
  }
  if (a.kv_type != b.kv_type || a.layout_version != b.layout_version) return "kv_type";
  return a.arithmetic_id != b.arithmetic_id ? "arithmetic" : "";
}

std::string to_hex(const Digest256& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace larder::model
