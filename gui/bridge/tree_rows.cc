// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/tree_rows.h"

#include <QCoreApplication>
#include <utility>

namespace larder::gui {
namespace {

struct TreeWords {
  Q_DECLARE_TR_FUNCTIONS(TreeRows)
};

// A row while it is being gathered: children as a list in the order of the snapshot.
struct Gathered {
  TreeRow row;
  std::vector<int> children;
};

void add(TreeSums& into, const TreeSums& from) {
  into.tokens += from.tokens;
  into.blocks += from.blocks;
  into.bytes += from.bytes;
  into.device_blocks += from.device_blocks;
  into.host_blocks += from.host_blocks;
  into.disk_blocks += from.disk_blocks;
  into.stored_blocks += from.stored_blocks;
  into.ram_blocks += from.ram_blocks;
  into.ram_bytes += from.ram_bytes;
  into.compute_ms += from.compute_ms;
  into.nodes += from.nodes;
}

TreeSums sumsOf(const TreeNode& node) {
  TreeSums sums;
  sums.tokens = node.tokens;
  sums.blocks = node.blocks;
  sums.bytes = node.bytes;
  sums.device_blocks = node.device_blocks;
  sums.host_blocks = node.host_blocks;
  sums.disk_blocks = node.disk_blocks;
  sums.stored_blocks = node.stored_blocks;
  sums.ram_blocks = node.ram_blocks;
  sums.ram_bytes = node.ram_bytes;
  sums.compute_ms = node.compute_ms;
  sums.nodes = 1;
  return sums;
}

class Gatherer {
 public:
  Gatherer() {
    Gathered root;
    root.row.key = treeKey(TreeRow::Kind::kAll, 0, ModelId{});
    rows_.push_back(std::move(root));
  }

  void addNode(const TreeNode& node, int index) {
    int parent = by_node_.value(node.parent.value, -1);
    if (node.parent.value == 0 || parent < 0) parent = scopeOf(node.model, node.tenant);
    Gathered run;
    run.row.kind = TreeRow::Kind::kRun;
    run.row.key = treeKey(TreeRow::Kind::kRun, node.id.value, node.model);
    run.row.node = index;
    run.row.model = node.model;
    run.row.tenant = node.tenant;
    run.row.own = run.row.all = sumsOf(node);
    by_node_.insert(node.id.value, append(std::move(run), parent));
  }

  std::vector<TreeRow> finish() {
    for (std::size_t i = rows_.size(); i-- > 1;) {  // parents stand before their children
      add(rows_[static_cast<std::size_t>(rows_[i].row.parent)].row.all, rows_[i].row.all);
    }
    std::vector<TreeRow> flat;
    flat.reserve(rows_.size());
    std::vector<int> source{0};  // breadth first keeps children contiguous
    source.reserve(rows_.size());
    flat.push_back(rows_[0].row);
    flat[0].parent = -1;
    for (std::size_t i = 0; i < source.size(); ++i) {
      const auto& children = rows_[static_cast<std::size_t>(source[i])].children;
      flat[i].first_child = static_cast<int>(flat.size());
      flat[i].child_count = static_cast<int>(children.size());
      for (const int child : children) {
        TreeRow row = rows_[static_cast<std::size_t>(child)].row;
        row.parent = static_cast<int>(i);
        row.depth = flat[i].depth + 1;
        flat.push_back(row);
        source.push_back(child);
      }
    }
    return flat;
  }

 private:
  int append(Gathered one, int parent) {
    const int index = static_cast<int>(rows_.size());
    one.row.parent = parent;
    rows_.push_back(std::move(one));
    rows_[static_cast<std::size_t>(parent)].children.push_back(index);
    return index;
  }

  int scopeOf(ModelId model, TenantId tenant) {
    const auto model_key = treeKey(TreeRow::Kind::kModel, model.value, model);
    const auto tenant_key = treeKey(TreeRow::Kind::kTenant, tenant.value, model);
    if (const int found = groups_.value(tenant_key, -1); found >= 0) return found;
    int above = groups_.value(model_key, -1);
    if (above < 0) {
      Gathered group;
      group.row.kind = TreeRow::Kind::kModel;
      group.row.key = model_key;
      group.row.model = model;
      above = append(std::move(group), 0);
      groups_.insert(model_key, above);
    }
    Gathered group;
    group.row.kind = TreeRow::Kind::kTenant;
    group.row.key = tenant_key;
    group.row.model = model;
    group.row.tenant = tenant;
    const int index = append(std::move(group), above);
    groups_.insert(tenant_key, index);
    return index;
  }

  std::vector<Gathered> rows_;
  QHash<std::uint64_t, int> by_node_, groups_;
};

}  // namespace

std::uint64_t treeKey(TreeRow::Kind kind, std::uint64_t id, ModelId model) {
  switch (kind) {
    case TreeRow::Kind::kAll:
      return kRootKey;
    case TreeRow::Kind::kRun:
      return id & 0x3fff'ffff'ffff'ffffull;
    case TreeRow::Kind::kModel:
      return 0x4000'0000'0000'0000ull | id;
    case TreeRow::Kind::kTenant:
      // 30 bits of the model's number and 32 of the tenant's fit beside the tag.
      return 0x8000'0000'0000'0000ull | (std::uint64_t{model.value & 0x3fff'ffffu} << 32) | id;
  }
  return 0;
}

int TreeRows::indexOfNode(NodeId id) const { return indexOfKey(treeKey(TreeRow::Kind::kRun, id.value, ModelId{})); }

std::uint64_t blockBytesOf(const SnapshotView& view, NodeId run) {
  const int index = view.tree->indexOfNode(run);
  const ModelInfo* model = nullptr;
  if (index >= 0) model = findModel(view, view.tree->rows[static_cast<std::size_t>(index)].model);
  if (model == nullptr) model = readyModel(view);
  return model == nullptr ? 0 : model->pool.block_bytes;
}

QString TreeRows::labelOf(const TreeRow& row, const SnapshotView& view) const {
  switch (row.kind) {
    case TreeRow::Kind::kAll:
      return TreeWords::tr("All models");
    case TreeRow::Kind::kModel: {
      const ModelInfo* model = findModel(view, row.model);
      return model != nullptr ? model->name : TreeWords::tr("model %1").arg(row.model.value);
    }
    case TreeRow::Kind::kTenant: {
      const TenantInfo* tenant = findTenant(view, row.tenant);
      return tenant != nullptr ? tenant->name : TreeWords::tr("tenant %1").arg(row.tenant.value);
    }
    case TreeRow::Kind::kRun:
      break;
  }
  const TreeNode& node = nodes[row.node];
  return node.label.isEmpty() ? TreeWords::tr("tokens from %1").arg(node.first_position) : labelInWords(node.label);
}

std::shared_ptr<const TreeRows> buildTreeRows(QVector<TreeNode> nodes) {
  auto built = std::make_shared<TreeRows>();
  Gatherer gatherer;
  for (int i = 0; i < nodes.size(); ++i) gatherer.addNode(nodes[i], i);
  built->rows = gatherer.finish();
  built->nodes = std::move(nodes);
  built->by_key.reserve(static_cast<qsizetype>(built->rows.size()));
  for (std::size_t i = 0; i < built->rows.size(); ++i) built->by_key.insert(built->rows[i].key, static_cast<int>(i));
  return built;
}

// Source: runtime/chat_template/prompt_sections.cc, name_sources.
QString labelInWords(const QString& label) {
  const auto roleWord = [](const QString& role) {
    if (role == QLatin1String("system")) return TreeWords::tr("system");
    if (role == QLatin1String("developer")) return TreeWords::tr("developer");
    if (role == QLatin1String("user")) return TreeWords::tr("user");
    if (role == QLatin1String("assistant")) return TreeWords::tr("assistant");
    return role == QLatin1String("tool") ? TreeWords::tr("tool") : role;
  };
  if (label == QLatin1String("system") || label == QLatin1String("developer")) return roleWord(label);
  if (label == QLatin1String("template")) return TreeWords::tr("template");
  const QStringList words = label.split(QLatin1Char(' '));
  if (words.size() == 2 && words[0] == QLatin1String("tool")) return TreeWords::tr("tool %1").arg(words[1]);
  const qsizetype message = words.size() - 2;
  bool counted = false;
  if (message >= 0 && message <= 1 && words[message] == QLatin1String("message")) words.last().toUInt(&counted);
  if (!counted) return label;
  return message == 0 ? TreeWords::tr("message %1").arg(words.last())
                      : TreeWords::tr("%1 message %2").arg(roleWord(words[0]), words.last());
}

}  // namespace larder::gui
