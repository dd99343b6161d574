// SPDX-License-Identifier: Apache-2.0
// ColdTier: a resident model's part of the lower tier, on the engine thread. It writes sealed blocks of the model's
// tree down behind the requests, brings cold ones up before a request starts where that is faster than computing them,
// and makes the tree again from the store after a restart. The store, of which there is one (DiskTier), moves and
// proves the bytes; the tree says which.
// Way:      begin (the cold tree is adopted in slices) -> tick at every turn -> drained -> end.
// Ensures:  a block is read by a model only after the store verified it; what cannot be had is computed. A request
//           waits for room or for another one's reading at most kLongestWaitMs.
// Errors:   usable: why nothing can be moved now. Else none: what cannot be written or read is counted (DiskTier).
//           std::bad_alloc leaves all whole: tick and on_event can be called again, with the same event.
// Threads:  engine thread.    Bounds: kReadBytes of reads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "runtime/engine/disk_tier.h"
#include "runtime/engine/lineages.h"
#include "runtime/engine/restore_plan.h"
#include "runtime/engine/stored_pins.h"
#include "runtime/engine/ticket_table.h"
#include "runtime/sched/tier_gate.h"

namespace larder::entry {
class EntryBook;
}

namespace larder::engine {

class StoredEntries;
class StoredIdentities;

// Is the copy itself to blame, so that it is not to be asked for again?
bool copy_is_gone(storage::Miss miss);

// Nodes of the tree that may lie on disk only: setting store.tree_blocks.
std::uint32_t max_cold_nodes(const settings::Settings& settings);

class ColdTier final : public sched::TierGate {
 public:
  static constexpr std::size_t kReadBytes = 16u << 20;
  static constexpr double kLongestWaitMs = 2000;
  static constexpr std::uint32_t kWorthTokens = 16;  // fewer are computed along with the rest

  // What it works on; all of it outlives this. owner: as DiskTier::join wants it.
  struct Parts {
    std::uint64_t owner = 0;
    kv::PrefixCache& cache;
    exec::Executor& executor;
    std::shared_ptr<const kv::Identity> identity;
    entry::EntryBook& entries;
  };
  ColdTier(Services& services, DiskTier& disk, Parts parts);
  ~ColdTier() override;  // end
  std::uint64_t owner() const { return owner_; }

  // `ready` is called once, when the cold part of the tree is there: at once when the tier is not used, or while nobody
  // knows the digest of the weights yet.
  void begin(std::function<void()> ready);
  void identity_known();  // the digest came: from now on blocks go down and come up
  // Whether everything sealed is durable or refused, pins and deletes are written and nothing is on its way; asked
  // again at each turn until it is.
  bool drained();
  void end();  // Requires: drained, or the store was closed. Nothing but owner() may be called after it.

  void tick();
  void sync_pins();
  bool busy() const;
  bool waiting() const;
  void apply_settings();

  // From DiskTier:
  void store_opened();
  void store_closed();
  void on_event(const storage::StoreEvent& event);  // whose ticket is this part's
  void lost_below(const BlockKey& key) { cache_.drop_stored(key); }
  void chained(std::uint64_t ticket, std::shared_ptr<ListedTree> tree);
  bool has_named(std::uint64_t identity_record) const;
  const Lineages& lineages() const { return lineages_; }
  std::uint64_t unlisted_blocks() const { return left_out_ + cache_.counts().forgotten_cold; }

  // Single blocks by name (block_moves.cc), for one mover at a time. kYes: it will be told; kLater: there is no room
  // now, or requests read; kNo: it cannot be had.
  enum class Taken : std::uint8_t { kYes, kLater, kNo };
  Status usable() const;           // kUnavailable or kConflict with the reason why nothing can be moved now
  Taken write_block(NodeId node);  // kYes too where it is on its way already
  // into: an arriving block, or kNoBlock when it is only to be proved.
  Taken read_block(const kv::ColdBlock& cold, BlockId into, std::uint64_t tag);
  std::optional<std::uint64_t> checksum_of(BlockId block);  // of its bytes in the pool now; nothing: not to be had now
  bool storing() const;  // sealed blocks go down
  std::unordered_set<NodeId> in_ram(std::span<const NodeId> nodes) const;  // of one scope: with a copy in memory
  // A rounded copy of the exact block goes down, from the pool or from its copy on disk; rounded() is told.
  Taken round_block(NodeId node, const std::shared_ptr<const kv::Identity>& lineage);
  // One resident block of these is sampled, where none was yet.
  void sample_rounding(std::span<const NodeId> nodes, kernels::KvScheme scheme);
  // Everything sealed has its copy below, or nothing goes there.
  bool durable() const { return !storing() || (writing_.empty() && !cache_.has_unstored()); }

  // TierGate
  std::shared_ptr<const kv::PromptKeys> keys_for(const sched::SequenceSpec& spec) override;
  sched::GateAnswer ask(const sched::SequenceSpec& spec, const kv::Outlook& outlook,
                        const sched::PrefillCost& cost) override;
  kv::Restored opened(SeqId seq) override;
  void forget(SeqId seq) noexcept override;
  bool holds_room() const override;

 private:
  struct Writing {
    NodeId node{};
    std::shared_ptr<const kv::Identity> lineage;
    std::optional<kv::ChainedBlock> rounded;  // it is no copy of the node: adopted under `lineage` once durable
    kv::StoredName name;
    std::string label;
    CopyBuffers::Lent buffer;  // null once copied
  };
  struct Restore {
    kv::ColdNames names;  // of what is to be read, until its arrival has begun
    kv::Arrival arrival;
    std::size_t issued = 0;
    std::size_t answered = 0;
    std::size_t came = 0;      // of those answered
    std::size_t from_ram = 0;  // of those that came
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
    CopyBuffers::Lent buffer;  // null: straight into the block
  };
  struct Moving {
    std::uint64_t tag = 0;
    BlockId into = kNoBlock;
    BlockKey copy{};           // where it is read from
    CopyBuffers::Lent buffer;  // null: straight into the block
    NodeId node{};             // with `rounds`: its copy under that lineage goes down next
    std::shared_ptr<const kv::Identity> rounds;
  };

  static constexpr std::size_t kUndurable = 512;  // blocks copied and not durable yet

  void write_down();
  void keep_cooled();
  enum class Form : std::uint8_t { kExact, kAsSet };  // as store.codec says
  Taken put(const kv::UnstoredBlock& block, Form form);
  Taken put_rounded(Moving from, std::uint64_t checksum);
  Taken give_to_store(storage::PutBlock put, Writing writing);
  Taken get_moving(const kv::ColdBlock& cold, Moving moving);
  void on_read_to_round(Moving moving, storage::Miss miss, std::uint64_t checksum);
  void tell_mover(const Writing& done, storage::Refusal refusal);
  bool goes_down(NodeId node) const;
  bool on_moved(const storage::StoreEvent& event);
  void drop_lost();
  void forget_gone(const BlockKey& copy);
  bool comes_again(const kv::StoredName& name, std::uint64_t ticket) const;
  void note_records(const Writing& done);
  void attach();
  void adopt_slice();
  void adopt_tree();
  void begin_tree();
  void issue_reads();
  bool issue(std::uint64_t id, Restore& restore);
  void give_up_rest(Restore& restore);
  void cut_stalled();
  void settle(Restore& restore);
  void drop_if_over(std::uint64_t id);
  void on_durable(const storage::StoreEvent& event);
  void on_refused(const storage::StoreEvent& event);
  void on_read(const storage::StoreEvent& event);
  void on_listed(const storage::StoreEvent& event);
  bool list_next();
  void give_up_listing(const char* why);
  void choose_lineage();
  void choose_foreign();
  kv::ColdBlock kept_as(const kv::UnstoredBlock& block, std::span<const std::byte> bytes, Writing& writing);
  bool known_below(const Writing& done);
  void ready_now();
  void all_adopted();
  Restore planned(const kv::Outlook& outlook, const sched::PrefillCost& cost, const sched::SequenceSpec& spec) const;
  std::uint32_t in_ram(const ScopeId& scope, const kv::ColdNames& names) const;
  sched::GateAnswer begin(Restore& restore, const sched::SequenceSpec& spec);
  sched::GateAnswer go_on(Restore& restore, const kv::Outlook& outlook);
  ReadRate read_rate(std::uint32_t blocks, std::uint32_t of_ram, kernels::KvScheme lineage) const;
  storage::StoredBlock stored(const kv::ColdBlock& cold) const;
  static void decline(Restore& restore, const char* why, std::uint64_t& count);

  Services& services_;
  DiskTier& disk_;
  const std::uint64_t owner_;
  kv::PrefixCache& cache_;
  exec::Executor& executor_;
  const std::shared_ptr<const kv::Identity> identity_;
  entry::EntryBook& entries_;
  std::optional<StoreRequests> requests_;  // nothing while the store is not used
  bool ended_ = false;

  std::function<void()> ready_;
  Lineages lineages_;
  bool attach_due_ = false;  // the identity is known, and its lineages are not yet
  bool adopting_ = false;    // until it is over nothing is written down
  std::vector<std::shared_ptr<const kv::Identity>> to_list_;  // still to be asked for; the first is being adopted
  std::vector<kv::Identity> foreign_found_;                   // by the listing
  std::unordered_set<TenantId> foreign_tenants_;              // those that may reuse what lies there
  std::shared_ptr<ListedTree> tree_;                          // being adopted
  std::shared_ptr<const storage::StoreListing> records_;
  std::shared_ptr<const storage::StoreListing> exact_records_;  // until all lineages are adopted
  StoredPins pins_;
  std::unique_ptr<StoredIdentities> identities_;
  std::unique_ptr<StoredEntries> entry_records_;
  std::uint64_t left_out_ = 0;
  bool tree_begun_ = false;  // what tree_ says beside its blocks is known
  std::size_t adopted_ = 0;  // blocks of tree_

  std::uint64_t next_ticket_;
  std::uint64_t list_ticket_ = 0;  // of a listing that is on its way
  TicketTable<Writing> writing_;
  TicketTable<Reading> reading_;
  TicketTable<Moving> moving_;
  std::map<std::uint64_t, Restore> restores_;  // by sequence: first asked, first read
  std::uint64_t last_issued_ = 0;  // whose block was asked for last
  std::vector<kv::StoredName> lost_;  // to be dropped from the store
};

}  // namespace larder::engine
