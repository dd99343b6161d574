// SPDX-License-Identifier: Apache-2.0
// Weights digest: BLAKE2b-256 over the whole file's size and the BLAKE2b-256 digests of its 64 MiB leaves, in order. A
// small cache file remembers it by device, inode, size and times.
// Errors:   kCancelled; kIo (the file cannot be read, or was changed meanwhile: nothing is remembered then). An
//           unreadable or damaged cache is only a miss.
// Threads:  pure; weights_digest blocks (1 s per GB and thread). Its 2 hashing threads have the lowest priority, so
//           that a model that answers meanwhile keeps its processors.
// Source:   BLAKE2b, RFC 7693, through libsodium.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/ids.h"
#include "runtime/base/result.h"

namespace larder::gguf {
class File;
}

namespace larder::model {

inline constexpr std::uint64_t kDigestLeafBytes = std::uint64_t{64} << 20;
inline constexpr std::size_t kMaxDigestCacheEntries = 256;  // the oldest give way

struct DigestOptions {
  std::string cache_path;                     // empty: no cache
  std::function<void(double)> progress;       // 0..1, from the hashing threads, one call at a time; may be empty
  const std::atomic<bool>* cancel = nullptr;  // read per MiB; may be null
};

Result<Digest256> weights_digest(const gguf::File& file, const DigestOptions& options);

std::string to_hex(const Digest256& digest);

}  // namespace larder::model
