// SPDX-License-Identifier: Apache-2.0
// DiskTier: what there is once of the lower tier: the store with its mode and settings, the scopes it knows, memory for
// copies, and totals. What a model has of it is a ColdTier; each of them joins here, and what the store answers is
// handed to the one that asked.
// Way:      open (the loader opens the store) -> join and leave of each model's part -> tick at every turn -> close.
// Ensures:  a ticket names who asked: tickets_of(owner) and up belong to the part that joined as `owner`, those of
//           owner 0 to this. What leaves the disk by itself is told to all parts. Each answer of the store is heard:
//           one that memory runs out for is heard once more at the next turn, and those behind it after it.
// Errors:   the store's failures end in state(): the reason why the tier is not used, or its counters. Where memory
//           runs out, tick does what is left at the next turn; waiting() says so.
// Owns:     the store.    Threads: engine thread, but wake.    Bounds: copies as CopyBuffers, over all models.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "runtime/engine/copy_buffers.h"
#include "runtime/engine/services.h"
#include "storage/block_store.h"

namespace larder::engine {

class BlockMover;
class ColdTier;
struct ListedTree;

struct DiskTierState {
  bool used = false;
  std::string reason;      // why it is not
  std::string mode;        // the setting
  std::string codec;       // the form in which blocks go down now, of the model loaded last
  std::string codec_note;  // why not in the one that was asked for
  double codec_error = 0;  // mean relative error of its samples
  storage::StoreCounters counters;
  std::uint64_t restored_blocks = 0;
  std::uint64_t restored_tokens = 0;
  double restore_ms = 0;              // spent waiting for them, summed over requests
  std::uint64_t declined_slower = 0;  // requests that computed what lay below, by reason
  std::uint64_t declined_room = 0;
  std::uint64_t declined_late = 0;
  std::uint64_t declined_damaged = 0;
  std::uint64_t declined_stalled = 0;
  std::uint64_t unlisted_blocks = 0;  // on disk beyond what the trees may know of it
  std::uint64_t mixed_restores = 0;   // requests that computed a start while the rest was read
};

class DiskTier {
 public:
  static constexpr double kAssumedBytesPerS = 400e6;  // of reads, until the first were measured
  static constexpr double kAssumedRamBytesPerS = 1e9;

  explicit DiskTier(Services& services);
  ~DiskTier();

  // Opens the store on the loader; what was asked meanwhile waits for it.
  void open();
  bool opening() const { return opening_; }
  // Stops the store; nothing is written to a block after this.
  void close();

  // owner: unique and not 0. A part leaves before it goes.
  void join(ColdTier& tier);
  void leave(ColdTier& tier);
  static constexpr std::uint64_t tickets_of(std::uint64_t owner) { return owner << kOwnerShift | 1; }

  void tick();
  void listed(std::uint64_t ticket, std::shared_ptr<ListedTree> tree);  // its keys were made again
  void sync_pins();      // the store learns of new pins and entries, and of those that are gone
  bool busy() const;     // the next turn has something to adopt
  bool waiting() const;  // a request waits for room or for blocks, or memory ran out: ask again soon
  bool drained();        // all parts are
  bool has_named(std::uint64_t identity_record) const;  // a part wrote this record since it joined

  void learn_scopes();  // those that the registry has gained
  void shred(const ScopeId& scope);
  void apply_settings();

  // Null while the tier is not used.
  storage::BlockStore* store() const { return store_.get(); }
  // Why nothing can be read or moved now: kUnavailable, or kConflict where it is bypassed.
  Status usable() const;
  bool stores() const { return store_ != nullptr && mode_ == storage::StoreMode::kOn; }
  bool serves() const { return store_ != nullptr && mode_ != storage::StoreMode::kBypassed; }
  bool always_restores() const { return always_; }  // whatever the estimates say
  double read_bytes_per_s() const { return read_bytes_per_s_; }
  bool keeps_in_ram() const { return serves() && ram_bytes_ > 0; }
  double ram_bytes_per_s() const { return ram_bytes_per_s_; }
  // Of all blocks with a copy in memory, and a number that changes with them; none and 0 while none are kept.
  std::vector<BlockKey> ram_keys() const;
  std::uint64_t ram_version() const { return keeps_in_ram() ? store_->ram_version() : 0; }
  Ticks store_cpu_ns() const;  // that the store's threads used since it was opened
  DiskTierState& totals() { return totals_; }
  DiskTierState state() const;

  // Who moves single blocks by name; null: nobody.
  void set_mover(BlockMover* mover) { mover_ = mover; }
  BlockMover* mover() const { return mover_; }

  CopyBuffers& buffers() { return buffers_; }

 private:
  static constexpr int kOwnerShift = 40;

  void opened(Result<std::unique_ptr<storage::BlockStore>> store);
  ColdTier* owner_of(std::uint64_t ticket) const;
  void take_events();
  void on_event(const storage::StoreEvent& event);
  void shred_due();

  Services& services_;
  std::unique_ptr<storage::Disk> disk_;
  std::unique_ptr<storage::BlockStore> store_;
  std::shared_ptr<std::atomic<bool>> woken_ = std::make_shared<std::atomic<bool>>(false);
  std::string reason_ = "it is being opened";
  storage::StoreMode mode_ = storage::StoreMode::kOn;
  bool opening_ = false;
  bool always_ = false;
  std::vector<ColdTier*> tiers_;  // in the order in which they joined
  BlockMover* mover_ = nullptr;
  CopyBuffers buffers_;
  double read_bytes_per_s_ = kAssumedBytesPerS;
  double ram_bytes_per_s_ = kAssumedRamBytesPerS;
  std::uint64_t ram_bytes_ = 0;
  std::uint64_t next_ticket_ = 1;
  std::unordered_set<ScopeId, DigestHash> scopes_;
  bool settings_due_ = false;      // they did not come to have their effect yet
  bool scopes_due_ = false;        // the store does not know all of them
  std::vector<ScopeId> to_shred_;  // the store was not asked yet
  bool events_due_ = false;        // the store has told something
  std::vector<storage::StoreEvent> events_;
  std::size_t next_event_ = 0;     // of events_, not heard yet
  bool short_of_memory_ = false;   // something was left to the next turn
  DiskTierState totals_;
};

}  // namespace larder::engine
