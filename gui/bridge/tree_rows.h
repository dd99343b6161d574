// SPDX-License-Identifier: GPL-3.0-or-later
// TreeRows: the prefix tree laid flat for drawing and for the outline: all, model, tenant, then runs of blocks.
// Children of a row are contiguous and keep the order of the snapshot, so nothing jumps when a sibling grows. Ensures:
// rows[0] is the root; parent < own index; sums hold (a row's all_* = its own + its children's all_*). Errors:   none:
// a node whose parent is unknown hangs below its tenant.    Threads: immutable once built.
#pragma once

#include <QHash>
#include <QString>
#include <QVector>
#include <cstdint>
#include <memory>
#include <vector>

#include "gui/bridge/view.h"

namespace larder::gui {

struct TreeNode {
  NodeId id{};
  NodeId parent{};
  TenantId tenant{};
  ModelId model{};
  std::uint32_t first_position = 0;
  std::uint32_t tokens = 0;
  std::uint32_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device_blocks = 0, host_blocks = 0, disk_blocks = 0, stored_blocks = 0;
  std::uint32_t ram_blocks = 0;  // of disk_blocks: with a copy in memory
  std::uint64_t ram_bytes = 0;
  bool pinned = false, in_use = false, growing = false;
  std::uint64_t hits = 0;
  WallTime created = 0, last_hit = 0;
  double compute_ms = 0;
  RequestId made_by{};
  QString label;
  QString lineage;  // as Verdict has it
  bool operator==(const TreeNode&) const = default;
};

struct TreeSums {
  std::uint64_t tokens = 0, blocks = 0, bytes = 0;
  std::uint64_t device_blocks = 0, host_blocks = 0, disk_blocks = 0, stored_blocks = 0;
  std::uint64_t ram_blocks = 0, ram_bytes = 0;
  double compute_ms = 0;
  std::uint32_t nodes = 0;  // runs, not groups
  bool operator==(const TreeSums&) const = default;
};

struct TreeRow {
  enum class Kind : std::uint8_t { kAll, kModel, kTenant, kRun };
  Kind kind = Kind::kAll;
  std::uint64_t key = 0;  // stable over snapshots and unique over kinds
  int parent = -1;
  int first_child = 0;
  int child_count = 0;
  int depth = 0;
  int node = -1;  // index into TreeRows::nodes for a run
  ModelId model{};
  TenantId tenant{};
  TreeSums own;  // zero for groups
  TreeSums all;  // own plus everything below
};

struct TreeRows {
  QVector<TreeNode> nodes;
  std::vector<TreeRow> rows;
  QHash<std::uint64_t, int> by_key;

  const TreeNode* nodeOf(const TreeRow& row) const { return row.node < 0 ? nullptr : &nodes[row.node]; }
  int indexOfKey(std::uint64_t key) const { return by_key.value(key, -1); }
  int indexOfNode(NodeId id) const;
  // Model or tenant name, a run's label, or what stands for a missing one.
  QString labelOf(const TreeRow& row, const SnapshotView& view) const;
};

// Key of "All models"; 0 is no row.
inline constexpr std::uint64_t kRootKey = 0xc000'0000'0000'0000ull;
std::uint64_t treeKey(TreeRow::Kind kind, std::uint64_t id, ModelId model);
std::shared_ptr<const TreeRows> buildTreeRows(QVector<TreeNode> nodes);

// Of the model that has the run; where that is gone, of the model that answers now, and 0 where there is none.
std::uint64_t blockBytesOf(const SnapshotView& view, NodeId run);

// Labels that the engine makes itself ("system", "user message 3", "tool web"), in the window's language; any other is
// a name and stays as it is.
QString labelInWords(const QString& label);

}  // namespace larder::gui
