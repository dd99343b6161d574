// SPDX-License-Identifier: Apache-2.0
// StoreWriter: the writing half of a BlockStore, and the only one who touches the catalog. Puts are written in batches:
// room for all, data, one sync per file, one commit; the other tasks run one by one in the order of their asking.
// Ensures:  an extent is written again only after the row that named it was deleted by a commit.
// Bounds:   kBatchBlocks and kBatchBytes a batch; kWritePieces of staging in flight.
// Errors:   none are answered but as events; private Status results name the failed step. Memory that runs out for a
//           batch or a request refuses it; what destroys keys, and what nobody would ask for again, is tried again
//           until it is done.
// Owns:     the catalog and the room.    Threads: run() is one thread, at low priority.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/block_coder.h"
#include "storage/catalog.h"
#include "storage/store_room.h"
#include "storage/store_state.h"

namespace larder::storage {

inline constexpr std::size_t kWritePieces = 2;
inline constexpr std::size_t kBatchBlocks = 256;
inline constexpr std::uint64_t kBatchBytes = 32u << 20;

// What the writer goes on with from where the folder was left.
struct StoreProgress {
  std::uint64_t next_generation = 1;
  std::uint64_t budget_day = 0;
  std::uint64_t budget_spent = 0;
};

class StoreWriter {
 public:
  StoreWriter(StoreState& state, std::unique_ptr<Catalog> catalog, std::unique_ptr<StoreRoom> room, std::string folder,
              const StoreProgress& progress);
  void run();

 private:
  struct Pending {
    PutTask task;
    std::uint64_t ticket = 0;
    std::shared_ptr<const ScopeKeys> keys;
    std::shared_ptr<SegmentFile> file;
    ExtentId at;
    std::uint64_t generation = 0;
    std::uint64_t bytes = 0;
    std::shared_ptr<RamCopy> ram;  // null: there is no room for it
    bool in_index = false;
    bool copied = false;
    Refusal refusal = Refusal::kNone;
  };
  struct Limits {
    std::uint64_t allowance = 0;  // how far the files may grow
    bool floor_binds = false;     // by the free floor rather than by the cap
  };

  // store_writer.cc: puts.
  void turn();
  void wait_for_memory();
  void write(std::vector<Pending>& batch);
  void store(std::vector<Pending>& batch);
  Refusal admit(Pending& one) REQUIRES(state_.mutex);
  void find_room(std::vector<Pending>& batch);
  Refusal find_extent(Pending& one);
  void copy(std::vector<Pending>& batch);
  std::span<const std::byte> stored_bytes(Pending& one);
  void copy_one(Pending& one, std::size_t index, std::vector<Pending>& batch);
  void wait_for_piece(std::vector<Pending>& batch);
  void sync(std::vector<Pending>& batch);
  void commit(std::vector<Pending>& batch);
  Status commit_rows(std::vector<Pending>& batch);
  void tell(std::vector<Pending>& batch);
  void settle(Pending& one) REQUIRES(state_.mutex);
  void refuse_orphans(std::vector<Pending>& batch);

  // store_eviction.cc: room.
  Limits room_left();
  bool make_room(const ScopeTag& scope, std::uint64_t extent_bytes, WallTime newer_than, Refusal& refusal);
  Result<std::vector<StoreIndex::Entry>> choose_victims(std::uint64_t bytes, WallTime newer_than, Refusal& refusal);
  void let_stay(const std::vector<StoreIndex::Entry>& victims);
  Result<bool> evict(std::uint64_t bytes, WallTime newer_than, Refusal& refusal);
  Status keep_limits();
  void forget_files(const std::vector<std::uint32_t>& segments);
  void spend(std::uint64_t bytes);

  // store_ram.cc: copies in memory.
  std::shared_ptr<RamCopy> ram_copy(std::uint64_t bytes);
  void drop_ram() EXCLUDES(state_.mutex);
  void keep(KeepTask task);
  void keep_one(const ScopeId& scope, const BlockKey& key);
  std::shared_ptr<const RamCopy> copy_of(const SegmentFile& file, std::uint32_t extent, std::uint64_t bytes);

  // store_tasks.cc: everything else. Each answers by one event.
  void run_task(WriteTask& task);
  Status perform(WriteTask& task, StoreEvent& answer, bool& tells);
  Status remove(const RemoveTask& task);
  Status set_pinned(const PinTask& task);
  Status put_record(const RecordTask& task);
  Status remove_record(const RemoveRecordTask& task);
  Status list(const ListTask& task, StoreEvent& answer);
  Status flush();
  Status save_uses();
  Status shred(const ShredTask& task);
  Status purge(PurgeTask task);
  std::vector<StoreIndex::Entry> durable_entries(const ScopeId& scope, const std::vector<BlockKey>& keys)
      EXCLUDES(state_.mutex);
  Status drop(const DropTask& task);
  Status rewrite_row(const ScopeKeys& keys, const StoreIndex::Entry& entry);
  Status in_transaction(const std::function<Status()>& changes);

  void take_batch() REQUIRES(state_.mutex);
  void publish_counters() EXCLUDES(state_.mutex);
  std::shared_ptr<const ScopeKeys> keys_of(const ScopeId& scope) EXCLUDES(state_.mutex);
  Status save_scope(const ScopeKeys& keys);

  StoreState& state_;
  std::unique_ptr<Catalog> catalog_;
  std::unique_ptr<StoreRoom> room_;
  const std::string folder_;
  StoreProgress progress_;
  std::vector<ScopeId> saved_scopes_;  // whose row is committed
  BlockCoder coder_;
  std::unique_ptr<DiskQueue> queue_;
  std::vector<Pending> batch_;  // at hand
  std::uint64_t batch_ram_bytes_ = 0;  // of its copies for memory
  std::vector<std::size_t> free_pieces_;
  std::size_t in_flight_ = 0;
  Rate rate_;
};

}  // namespace larder::storage
