// SPDX-License-Identifier: Apache-2.0
#include "runtime/model/digest.h"

#include <sodium.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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

// Of the calling thread, for good; a system that refuses leaves it as it is.
void take_lowest_priority() {
  constexpr int kLowest = 19;
  static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLowest));
}

// The leaves of one file: threads take them by number until none is left, one fails or the caller cancels.
class LeafHashing {
 public:
  LeafHashing(const gguf::File& file, const DigestOptions& options)
      : file_(file), options_(options), leaves_((file.bytes().size() + kDigestLeafBytes - 1) / kDigestLeafBytes) {}

  Status run() EXCLUDES(mutex_) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::min<std::size_t>(kHashThreads, leaves_.size()); ++i) {
      threads.emplace_back([this] {
        take_lowest_priority();
        take_leaves();
      });
    }
    for (std::thread& thread : threads) thread.join();
    if (cancelled()) return Error{ErrorCode::kCancelled, "hashing the model was cancelled", file_.path()};
    MutexLock lock(mutex_);
    return outcome_.ok() ? file_.check_unchanged() : outcome_;
  }

  const std::vector<Digest256>& leaves() const { return leaves_; }

 private:
  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed); }
  bool ends_early() const { return failed_.load() || cancelled(); }

  void take_leaves() {
    std::vector<std::byte> piece(kPieceBytes);
    for (std::size_t leaf = next_.fetch_add(1); leaf < leaves_.size() && !ends_early(); leaf = next_.fetch_add(1)) {
      const std::uint64_t begin = leaf * kDigestLeafBytes;
      hash_leaf(begin, std::min<std::uint64_t>(begin + kDigestLeafBytes, file_.bytes().size()), piece, leaves_[leaf]);
    }
  }

  void hash_leaf(std::uint64_t begin, std::uint64_t end, std::span<std::byte> piece, Digest256& out) EXCLUDES(mutex_) {
    Hasher hasher;
    while (begin < end && !ends_early()) {
      const std::span<std::byte> part = piece.first(std::min<std::uint64_t>(piece.size(), end - begin));
      if (const Status read = file_.read(begin, part); !read.ok()) {
        MutexLock lock(mutex_);
        if (outcome_.ok()) outcome_ = read;
        failed_.store(true);
        return;
      }
      hasher.bytes(part.data(), part.size());
      begin += part.size();
      report(part.size());
    }
    out = hasher.finish();
  }

  void report(std::size_t hashed) EXCLUDES(mutex_) {
    if (!options_.progress) return;
    MutexLock lock(mutex_);
    hashed_ += hashed;
    options_.progress(static_cast<double>(hashed_) / static_cast<double>(file_.bytes().size()));
  }

  const gguf::File& file_;
  const DigestOptions& options_;
  std::vector<Digest256> leaves_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  Mutex mutex_;
  std::uint64_t hashed_ GUARDED_BY(mutex_) = 0;
  Status outcome_ GUARDED_BY(mutex_);
};

}  // namespace

Result<Digest256> weights_digest(const gguf::File& file, const DigestOptions& options) {
  const bool cacheable = !options.cache_path.empty() && file.stamp().inode != 0;
  if (cacheable) {
    if (const auto known = find_cached_digest(options.cache_path, file.stamp())) return *known;
  }
  LeafHashing hashing(file, options);
  RETURN_IF_ERROR(hashing.run());
  Hasher root;
  root.part("larder weights", "1");
  root.number(file.bytes().size());
  for (const Digest256& leaf : hashing.leaves()) root.bytes(leaf.data(), leaf.size());
  const Digest256 digest = root.finish();
  if (cacheable) store_cached_digest(options.cache_path, file.stamp(), digest);
  return digest;
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
