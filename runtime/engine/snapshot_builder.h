// SPDX-License-Identifier: Apache-2.0
// SnapshotBuilder: copies what the engine thread owns into one immutable SnapshotState, between steps.
// Ensures:  the tree is copied again only when it, or what has a copy in memory, changed; every total is the sum of its
//           parts at that moment.
// Threads:  engine thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/engine/job_list.h"
#include "runtime/engine/model_host.h"
#include "runtime/engine/pack_shelf.h"
#include "runtime/engine/request_table.h"
#include "runtime/engine/reuse_promises.h"
#include "runtime/engine/snapshot_state.h"
#include "runtime/entry/entry_book.h"
#include "runtime/observe/history.h"

namespace larder::engine {

inline constexpr const char* kVersion = "0.1.0";

// A row of the tree as readers see it; row_ns: measured cost of one token.
TreeNode tree_node(const kv::TreeRow& row, const LoadedModel& model, double row_ns, bool on_device);

class SnapshotBuilder {
 public:
  SnapshotBuilder(Services& services, WallTime started);

  struct Sources {
    ModelHost& models;
    const DiskTier& disk;
    RequestTable& requests;
    const PackShelf& packs;
    entry::EntryBook& entries;
    observe::History& history;
    const JobList& jobs;
    const ReusePromises& promises;
  };
  std::shared_ptr<const SnapshotState> build(const Sources& from);

 private:
  using TreeVersions = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // generation, version

  void add_cache(Snapshot& all, const Sources& from, std::uint64_t epoch);
  static void add_pool(Snapshot& all, const ResidentModel& model);
  void add_tree(Snapshot& all, const Sources& from, std::uint64_t epoch);
  void add_tenants(Snapshot& all, const Sources& from) const;
  static void add_store(Snapshot& all, const DiskTier& disk);
  void add_history(Snapshot& all, const Sources& from) const;
  void measure(Snapshot& all, const Sources& from);

  Services& services_;
  const WallTime started_;
  std::uint64_t epoch_ = 0;
  std::uint64_t tree_epoch_ = 0;
  TreeVersions tree_versions_;
  std::uint64_t ram_version_ = 0;  // of the copies in memory that tree_ names
  std::shared_ptr<const std::vector<TreeNode>> tree_;
  std::deque<std::pair<Ticks, std::uint64_t>> decode_marks_;  // decode rows of the last 5 s
};

}  // namespace larder::engine
