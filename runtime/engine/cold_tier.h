// SPDX-License-Identifier: Apache-2.0
// ColdTier: the engine thread's side of the disk tier. It writes sealed blocks of the loaded model's tree down behind
// the requests, brings cold ones up before a request starts where that is faster than computing them, and makes the
// tree again from the store after a restart. The store moves and proves the bytes; the tree says which.
// Way:      open (the loader opens the store) -> attach (a model is there; its cold tree is adopted in slices) -> tick
//           at every turn -> drained -> detach.
// Ensures:  a block is read by a model only after the store verified it; what cannot be had is computed. A request
//           waits for room or for another one's reading at most kLongestWaitMs.
// Errors:   the store's failures end in state(): the reason why the tier is not used, or its counters.
// Owns:     the store.    Threads: engine thread, but wake.    Bounds: kStagingBytes of copies, kReadBytes of reads.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/engine/lineages.h"
#include "runtime/engine/restore_plan.h"
#include "runtime/engine/services.h"
#include "runtime/engine/stored_pins.h"
#include "runtime/sched/tier_gate.h"
#include "storage/block_store.h"

namespace larder::entry {
class EntryBook;
}

namespace larder::engine {

class BlockMover;
struct ListedTree;
class StoredEntries;
class StoredIdentities;

struct ColdTierState {
  bool used = false;
  std::string reason;      // why it is not
  std::string mode;        // the setting
  std::string codec;       // the form in which blocks go down now
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
  std::uint64_t unlisted_blocks = 0;  // on disk beyond what the tree may know of it
  std::uint64_t mixed_restores = 0;   // requests that computed a start while the rest was read
};

// Is the copy itself to blame, so that it is not to be asked for again?
bool copy_is_gone(storage::Miss miss);

// Nodes of the tree that may lie on disk only: setting store.tree_blocks.
std::uint32_t max_cold_nodes(const settings::Settings& settings);

class ColdTier final : public sched::TierGate {
 public:
  static constexpr std::size_t kStagingBytes = 8u << 20;
  static constexpr std::size_t kReadBytes = 16u << 20;
  static constexpr double kLongestWaitMs = 2000;
  static constexpr std::uint32_t kWorthTokens = 16;   // fewer are computed along with the rest
  static constexpr double kAssumedBytesPerS = 400e6;  // of reads, until the first were measured

  // entries: of the loaded model's tree; it outlives this.
  ColdTier(Services& services, entry::EntryBook& entries);
  ~ColdTier() override;

  // Opens the store on the loader; what was asked meanwhile waits for it.
  void open();
  void opened(Result<std::unique_ptr<storage::BlockStore>> store);

  // A model's tree over its executor, both of which outlive detach(). `ready` is called once, when the cold part of
  // the tree is there: at once when the tier is not used, or while nobody knows the digest of the weights yet.
  void attach(kv::PrefixCache& cache, exec::Executor& executor, std::shared_ptr<const kv::Identity> identity,
              std::function<void()> ready);
  void identity_known();  // the digest came: from now on blocks go down and come up
  // Whether everything sealed is durable or refused, pins and deletes are written and nothing is on its way; asked
  // again at each turn until it is.
  bool drained();
  void detach();  // Requires: drained, or closed

  void tick();
  void take_events();
  void chained(std::uint64_t ticket, ListedTree tree);
  void sync_pins();      // the store learns of new pins and entries, and of those that are gone
  bool busy() const;     // the next turn has something to adopt
  bool waiting() const;  // a request waits for room or for blocks: ask again soon

  void learn_scopes();  // those that the registry has gained
  void shred(const ScopeId& scope);
  void apply_settings();
  // Stops the store; nothing is written to a block after this.
  void close();

  ColdTierState state() const;

  // Single blocks by name (block_moves.cc), for one mover at a time. kYes: it will be told; kLater: there is no room
  // now, or requests read; kNo: it cannot be had.
  enum class Taken : std::uint8_t { kYes, kLater, kNo };
  void set_mover(BlockMover* mover) { mover_ = mover; }
  Status usable() const;           // kUnavailable or kConflict with the reason why nothing can be moved now
  Taken write_block(NodeId node);  // kYes too where it is on its way already
  // into: an arriving block, or kNoBlock when it is only to be proved.
  Taken read_block(const kv::ColdBlock& cold, BlockId into, std::uint64_t tag);
  std::optional<std::uint64_t> checksum_of(BlockId block);  // of its bytes in the pool now; nothing: not to be had now
  bool is_storing() const { return storing(); }
  Ticks store_cpu_ns() const;  // that the store's threads used since it was opened

  // TierGate
  std::shared_ptr<const kv::PromptKeys> keys_for(const sched::SequenceSpec& spec) override;
  sched::GateAnswer ask(const sched::SequenceSpec& spec, const kv::Outlook& outlook,
                        const sched::PrefillCost& cost) override;
  kv::Restored opened(SeqId seq) override;
  void forget(SeqId seq) override;
  bool holds_room() const override;

 private:
  static constexpr std::size_t kNotAdopting = ~std::size_t{0};
  using Buffer = std::vector<std::byte>;
  struct Writing {
    NodeId node{};
    std::shared_ptr<const kv::Identity> lineage;
    std::optional<kv::ChainedBlock> rounded;  // it is no copy of the node: adopted under `lineage` once durable
    kv::StoredName name;
    std::string label;
    std::unique_ptr<Buffer> buffer;  // null once copied
  };
  struct Restore {
    kv::Arrival arrival;
    std::size_t issued = 0;
    std::size_t answered = 0;
    Ticks asked = 0;
    Ticks last_came = 0;
    sched::PrefillCost cost;
    ColdRun run;
    RestorePlan plan;
    std::uint32_t head_end = 0;  // token up to which the sequence computes meanwhile; 0: it waits
    kv::Restored note;
    bool done = false;       // the sequence needs not wait for it any more
    bool told = false;       // the note is final
    bool forgotten = false;  // it goes when all reads were answered
  };
  struct Reading {
    std::uint64_t restore = 0;
    std::size_t index = 0;
    std::unique_ptr<Buffer> buffer;  // null: straight into the block
  };
  struct Moving {
    std::uint64_t tag = 0;
    BlockId into = kNoBlock;
    std::unique_ptr<Buffer> buffer;  // null: straight into the block
  };

  static constexpr std::size_t kUndurable = 512;  // blocks copied and not durable yet

  void write_down();
  enum class Form : std::uint8_t { kExact, kAsSet };  // as store.codec says
  Taken put(const kv::UnstoredBlock& block, Form form);
  bool goes_down(NodeId node) const;
  bool on_moved(const storage::StoreEvent& event);
  void drop_lost();
  void adopt_slice();
  void issue_reads();
  bool issue(std::uint64_t id, Restore& restore);
  void give_up_rest(Restore& restore);
  void cut_stalled();
  void settle(Restore& restore);
  void drop_if_over(std::uint64_t id);
  void on_event(const storage::StoreEvent& event);
  void on_durable(const storage::StoreEvent& event);
  void on_refused(const storage::StoreEvent& event);
  void on_read(const storage::StoreEvent& event);
  void on_listed(const storage::StoreEvent& event);
  void list_next();
  void choose_lineage();
  kv::ColdBlock kept_as(const kv::UnstoredBlock& block, std::span<const std::byte> bytes, Writing& writing);
  bool known_below(const Writing& done);
  void ready_now();
  Restore planned(const kv::Outlook& outlook, const sched::PrefillCost& cost, kernels::KvScheme lineage) const;
  sched::GateAnswer begin(Restore& restore, const sched::SequenceSpec& spec);
  sched::GateAnswer go_on(Restore& restore, const kv::Outlook& outlook);
  ReadRate read_rate(std::uint32_t blocks, kernels::KvScheme lineage) const;
  storage::StoredBlock stored(const kv::ColdBlock& cold) const;
  std::unique_ptr<Buffer> take_buffer();
  void give_buffer(std::unique_ptr<Buffer> buffer);
  static void decline(Restore& restore, const char* why, std::uint64_t& count);
  bool storing() const;

  Services& services_;
  entry::EntryBook& entries_;
  std::unique_ptr<storage::Disk> disk_;
  std::unique_ptr<storage::BlockStore> store_;
  std::optional<StoreRequests> requests_;  // of store_
  std::shared_ptr<std::atomic<bool>> woken_ = std::make_shared<std::atomic<bool>>(false);
  std::string reason_ = "it is being opened";
  storage::StoreMode mode_ = storage::StoreMode::kOn;
  bool opening_ = false;
  bool always_ = false;  // restore whatever the estimates say

  kv::PrefixCache* cache_ = nullptr;
  exec::Executor* executor_ = nullptr;
  std::shared_ptr<const kv::Identity> identity_;
  std::function<void()> ready_;
  Lineages lineages_;
  std::vector<std::shared_ptr<const kv::Identity>> to_list_;  // still to be asked for; the first is being adopted
  std::vector<kv::ChainedBlock> listing_;                     // being adopted
  std::shared_ptr<const storage::StoreListing> records_;
  StoredPins pins_;
  std::unique_ptr<StoredIdentities> identities_;
  std::unique_ptr<StoredEntries> entry_records_;
  std::uint64_t left_out_ = 0;
  std::size_t adopted_ = kNotAdopting;

  std::uint64_t next_ticket_ = 1;
  std::uint64_t list_ticket_ = 0;
  std::unordered_map<std::uint64_t, Writing> writing_;
  std::unordered_map<std::uint64_t, Reading> reading_;
  std::unordered_map<std::uint64_t, Moving> moving_;
  BlockMover* mover_ = nullptr;
  std::map<std::uint64_t, Restore> restores_;  // by sequence: first asked, first read
  std::vector<std::unique_ptr<Buffer>> buffers_;
  double read_bytes_per_s_ = kAssumedBytesPerS;
  std::uint64_t last_issued_ = 0;  // whose block was asked for last
  std::size_t buffers_out_ = 0;
  std::vector<kv::StoredName> lost_;  // to be dropped from the store
  std::unordered_set<ScopeId, DigestHash> scopes_;
  std::vector<storage::StoreEvent> events_;
  ColdTierState totals_;
};

}  // namespace larder::engine
