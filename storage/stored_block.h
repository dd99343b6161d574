// SPDX-License-Identifier: Apache-2.0
// StoredBlock and the words in which the block store answers. Values only: no files, no keys.
// Shapes:   a payload is slice_count slices of slice_bytes, in the order of kernels/layout/kv_layout.h.
// Units:    bytes, tokens, positions; times in ms since 1970 unless named otherwise.    Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/layout/kv_codec.h"
#include "runtime/base/clock.h"
#include "runtime/base/ids.h"

namespace larder::storage {

// What is sealed with a block, compared at every read, and told by a listing.
struct StoredBlock {
  ScopeId scope{};
  Digest256 identity{};
  BlockKey key{};
  BlockKey parent{};                  // the root key where first_position is 0
  std::uint32_t first_position = 0;
  std::uint32_t valid_tokens = 0;     // 1..kBlockTokens
  std::array<Token, kernels::kBlockTokens> tokens{};  // zero past valid_tokens
  std::uint32_t scheme = 0;           // kernels::KvScheme; 0: the pool's own bytes
  std::uint32_t slice_count = 0;
  std::uint32_t slice_bytes = 0;      // as stored (kernels::coded_slice_bytes), a multiple of 64
  // Not compared at a read:
  TenantId owner{};                   // whose disk use it is
  WallTime created = 0;
  WallTime last_use = 0;
  bool pinned = false;                // never evicted from disk; flushed first

  std::uint64_t payload_bytes() const { return std::uint64_t{slice_count} * slice_bytes; }
};

// A small sealed fact of a scope that lives beside its blocks: a pin, the words behind an identity, an entry.
struct StoredRecord {
  ScopeId scope{};
  std::uint32_t kind = 0;  // in clear; the caller's numbering
  std::uint64_t id = 0;    // in clear; unique per scope and kind
  std::vector<std::uint8_t> bytes;
};

// Why a block was not stored. Stable API words: refusal_name(). kNoCodec: the store has no codecs, does not know this
// one or does not offer it for the layout. kNotFinite: the block holds values that no codec keeps.
enum class Refusal : std::uint8_t {
  kNone, kStopping, kFrozen, kBypassed, kUnknownScope, kBadShape, kAlreadyThere, kParentMissing, kSourceCorrupt,
  kNoCodec, kNotFinite, kNotEarned, kWriteBudget, kOverCap, kKeepFree, kOlderThanAll, kDiskFull, kWriteFailed,
  kSyncFailed, kCommitFailed, kScopeGone,
};
const char* refusal_name(Refusal refusal);

// Why a read gave no data. Stable API words: miss_name(). kWrongIdentity to kWrongShape: the block is whole but not the
// one that was asked for; kWrongScheme: it is kept in another scheme, which the event names. From kTruncated on it is
// damage: the block is dropped.
enum class Miss : std::uint8_t {
  kNone, kNotStored, kStopping, kBypassed, kUnknownScope, kScopeGone, kBadShape, kNoCodec, kReadFailed,
  kWrongIdentity, kWrongParent, kWrongPosition, kWrongTokens, kWrongScheme, kWrongShape,
  kTruncated, kFormat, kStaleGeneration, kWrongExtent, kNotAuthentic, kWrongKey, kSliceChecksum,
};
constexpr bool is_damage(Miss miss) { return miss >= Miss::kTruncated; }
inline constexpr std::size_t kMissKinds = static_cast<std::size_t>(Miss::kSliceChecksum) + 1;
inline constexpr std::size_t kRefusalKinds = static_cast<std::size_t>(Refusal::kScopeGone) + 1;
const char* miss_name(Miss miss);

struct StoreListing {
  std::vector<StoredBlock> blocks;  // parents before their children
  std::vector<StoredRecord> records;
};

struct StoreEvent {
  enum class Kind : std::uint8_t {
    kCopied,   // a put's bytes are no longer needed; kDurable or kRefused follows
    kDurable,  // data synced and catalog committed: it survives kill -9 and power loss from here on
    kRefused,  // refusal; the put's bytes are no longer needed
    kRead,     // the whole payload lies in the caller's memory, every check passed; checksum is the block's
    kMissed,   // miss; the caller's memory holds zeros or was not touched
    kEvicted,  // the store dropped it by itself (room, damage): it cannot be read any more
    kDone,     // remove, pin and record requests: committed, unless `error` says why not
    kShredded, // the scope's keys are destroyed on disk; its space is freed later
    kListed,   // listing
    kFlushed,  // everything put before the flush is durable or refused
  };
  Kind kind = Kind::kDone;
  std::uint64_t ticket = 0;
  ScopeId scope{};
  BlockKey key{};
  Refusal refusal = Refusal::kNone;
  Miss miss = Miss::kNone;
  std::uint32_t scheme = 0;    // of the block as it lies there or was to lie there; kMissed: 0 unless it is known
  std::uint64_t bytes = 0;     // read or written on disk
  bool from_ram = false;       // kRead: its copy in memory
  std::uint64_t checksum = 0;  // kRead: of the bytes in the caller's memory
  Ticks took = 0;              // ns from the request to the answer
  std::string error;
  std::shared_ptr<const StoreListing> listing;  // kListed
};

}  // namespace larder::storage
