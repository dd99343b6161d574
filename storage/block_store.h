// SPDX-License-Identifier: Apache-2.0
// BlockStore: the disk tier. Sealed blocks go to segment files, what they are to a catalog; both are encrypted under
// the scope's secret. It moves bytes and proves them; which block goes up or down is the caller's decision, which one
// leaves the disk is an EvictionPolicy's. It never answers data in which anything is in doubt.
// Shapes:   storage/FORMAT.md.
// Requires: one store per folder (DataDir's lock). Scopes are made known before their blocks are named.
// Ensures:  a block is durable only after its data was synced and then its catalog row committed; a failed sync or
//           commit drops it. Reads check the seal, scope, identity, key, parent, position, tokens and every slice
//           checksum, of the bytes as they were stored; only then is a coded block decoded. The disk cap and the free
//           floor are kept in real bytes, which can be recounted from the files. A copy in memory that does not hold
//           is dropped, and the block read from disk.
// Errors:   open: kUnsupported (newer format: the folder is untouched), kCorrupt, kIo (the tier cannot be used; the
//           message is the reason to show), kUnavailable (no memory; the folder holds what it held). Later
//           failures are events and counters, never lost silently. A call that runs out of memory throws
//           std::bad_alloc and has taken nothing; on the store's own threads a lack of memory, SQLite's too, is a
//           refused put, a missed read or a failed request, and what destroys keys is tried again until it is done.
// Bounds:   queue_blocks puts and as many reads wait; a call takes as many as fit and answers how many. Staging
//           memory 4 MiB, and one coded block for coding. Index about 250 bytes a block.
// Owns:     three threads: two read and open, the second where the first has its hands full; one writes, commits and
//           evicts, at low priority.
// Threads:  open blocks (call it from a loader). All else: any thread, never blocks on I/O. A caller's memory given to
//           put or get is untouched again once its kCopied/kRefused or kRead/kMissed event was drained, or after the
//           destructor; events are drained by their owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/result.h"
#include "storage/disk_io.h"
#include "storage/placement.h"
#include "storage/store_counters.h"
#include "storage/stored_block.h"

namespace larder::storage {

enum class StoreMode : std::uint8_t {
  kOn,
  kFrozen,    // serves, does not store; remove and shred still work
  kBypassed,  // neither serves nor stores; remove and shred still work
};

enum class CipherChoice : std::uint8_t { kFastest, kAes256Gcm, kXChaCha20 };

struct StoreLimits {
  std::uint64_t cap_bytes = std::uint64_t{50} << 30;           // real bytes of segments and catalog
  std::uint64_t keep_free_bytes = 0;                           // 0: the larger of 5 % of the file system and 1 GiB
  std::uint64_t write_budget_bytes = std::uint64_t{40} << 30;  // a day (UTC); above half of it only `earned` blocks
  std::uint64_t ram_bytes = 0;                                 // of copies in memory; 0: none
};

struct StoreConfig {
  std::string folder;  // the data folder; the store makes catalog.db and segments/ in it
  StoreLimits limits;
  StoreMode mode = StoreMode::kOn;
  CipherChoice cipher = CipherChoice::kFastest;
  std::size_t queue_blocks = 4096;
  std::uint64_t segment_bytes = std::uint64_t{1} << 30;  // a segment file grows up to about this
  std::unique_ptr<EvictionPolicy> policy;                // null: LeafLru
  kernels::KvCodecKernels codec;                         // null: only exact blocks are stored and served
};

struct StoreScope {
  ScopeId id{};
  ScopeSecret secret{};
};

// A block of another scheme than exact is put and got as the pool's own bytes; its StoredBlock says the scheme and the
// coded slices' size, and `layout` how the exact ones lie.
struct PutBlock {
  StoredBlock block;
  std::span<const std::byte> bytes;  // payload_bytes(), coded: layout.block_bytes(); read until kCopied or kRefused
  std::uint64_t checksum = 0;        // block_checksum of `bytes` when sealed; 0: not known. Else compared while copying
  bool earned = true;                // shared by sessions, chat, document or pinned: still stored above half the budget
  std::uint64_t ticket = 0;
  kernels::KvLayout layout{};        // not read where the scheme is exact
};

struct GetBlock {
  StoredBlock block;           // what it has to be, its scheme too; fields marked so in StoredBlock are not compared
  std::span<std::byte> into;   // payload_bytes(), coded: layout.block_bytes(); written until kRead or kMissed
  std::uint64_t ticket = 0;
  kernels::KvLayout layout{};  // not read where the scheme is exact
  bool from_disk = false;      // even where it has a copy in memory
};

class BlockStore {
 public:
  // What lies in the folder for scopes not named here belongs to nobody any more and is destroyed. `wake` is called
  // from the store's threads after events were queued; it has to be short and may not call the store.
  static Result<std::unique_ptr<BlockStore>> open(StoreConfig config, std::vector<StoreScope> scopes, Disk& disk,
                                                  const Clock& clock, std::function<void()> wake);
  // Stops after the writes at hand; what is queued is answered kStopping. For a clean stop call flush first and wait.
  ~BlockStore();
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  void add_scope(const StoreScope& scope);

  // Parents before children. Answers how many were taken, in order; each of those gets its events.
  std::size_t put(std::span<const PutBlock> blocks);
  std::size_t get(std::span<const GetBlock> blocks);

  // Each is answered by one event with its ticket, after the commit; false: the queue is full, nothing will come. Where
  // the answer has an error nothing was changed, and a listing is empty.
  bool remove(const ScopeId& scope, std::vector<BlockKey> keys, std::uint64_t ticket);
  bool set_pinned(const ScopeId& scope, std::vector<BlockKey> keys, bool pinned, std::uint64_t ticket);
  bool put_record(StoredRecord record, std::uint64_t ticket);  // replaces; at most 64 KiB
  bool remove_record(const ScopeId& scope, std::uint32_t kind, std::uint64_t id, std::uint64_t ticket);
  bool list(std::optional<ScopeId> scope, std::optional<Digest256> identity, std::uint64_t ticket);
  bool flush(std::uint64_t ticket);
  // These left the pool: where they are stored, their copies in memory are made or count as newest, in the background.
  // What finds no room in the queue is left out.
  void keep_in_ram(const ScopeId& scope, std::vector<BlockKey> keys);
  // Which of these have a copy in memory now, in their order.
  std::vector<bool> in_ram(const ScopeId& scope, std::span<const BlockKey> keys) const;
  std::vector<BlockKey> ram_keys() const;  // of all that have one
  std::uint64_t ram_version() const;       // changes with them
  // From the return of this call nothing of the scope is served or stored. Never refused; its blocks get no kEvicted.
  void shred(const ScopeId& scope, std::uint64_t ticket);

  void set_limits(const StoreLimits& limits);  // a smaller cap evicts in the background
  void set_mode(StoreMode mode);

  // Appends the events since the last call, oldest first.
  void drain(std::vector<StoreEvent>& out);
  StoreCounters counters() const;

 private:
  class Core;
  static Result<std::unique_ptr<BlockStore>> open_with(StoreConfig& config, const std::vector<StoreScope>& scopes,
                                                       Disk& disk, const Clock& clock, std::function<void()> wake);
  explicit BlockStore(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace larder::storage
