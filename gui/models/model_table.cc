// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/model_table.h"

#include "gui/models/request_model.h"
#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool isFigure(int column) {
  switch (column) {
    case ModelTable::kFile:
    case ModelTable::kKv:
    case ModelTable::kContext:
    case ModelTable::kLongest:
      return true;
    default:
      return false;
  }
}

QVariant number(std::uint64_t value) { return QVariant::fromValue(static_cast<qulonglong>(value)); }

}  // namespace

void ModelTable::setView(const SnapshotView& view) {
  QVector<ModelRow> next;
  for (const ModelInfo& model : view.models) next.push_back(ModelRow{model});
  setRows(std::move(next));
}

int ModelTable::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

QVariant ModelTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole) {
    return QVariant((isFigure(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kName:
      return tr("Model");
    case kState:
      return tr("State");
    case kArchitecture:
      return tr("Architecture");
    case kQuantisation:
      return tr("Weights");
    case kFile:
      return tr("File");
    case kKv:
      return tr("KV per token");
    case kContext:
      return tr("Context");
    case kLongest:
      return tr("Longest request");
    default:
      return {};
  }
}

QString ModelTable::text(const ModelRow& row, int column) const {
  switch (column) {
    case kName:
      return row.info.name;
    case kState:
      return row.info.state == ModelInfo::State::kLoading ? tr("loading, %1").arg(percentText(row.info.progress, 1))
                                                          : modelStateLabel(row.info.state).text;
    case kArchitecture:
      return row.info.architecture.isEmpty() ? noData() : row.info.architecture;
    case kQuantisation:
      return row.info.quantisation.isEmpty() ? noData() : row.info.quantisation;
    case kFile:
      return bytesText(row.info.file_bytes);
    case kKv:
      return row.info.kv_bytes_per_token == 0 ? noData() : bytesText(row.info.kv_bytes_per_token);
    case kContext:
      return row.info.n_context == 0 ? noData() : countText(row.info.n_context);
    case kLongest:
      return row.info.max_request_tokens == 0 ? noData() : countText(row.info.max_request_tokens);
    default:
      return {};
  }
}

QVariant ModelTable::sortValue(const ModelRow& row, int column) const {
  switch (column) {
    case kFile:
      return number(row.info.file_bytes);
    case kKv:
      return number(row.info.kv_bytes_per_token);
    case kContext:
      return row.info.n_context;
    case kLongest:
      return row.info.max_request_tokens;
    default:
      return text(row, column);
  }
}

QVariant ModelTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const ModelRow& at = row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(at, column);
    case Qt::TextAlignmentRole:
      return QVariant((isFigure(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kIdRole:
      return idOf(at);
    case kSortRole:
      return sortValue(at, column);
    case kMoodRole:
      return column == kState ? QVariant(static_cast<int>(modelStateLabel(at.info.state).mood)) : QVariant();
    case kIconRole:
      return column == kState ? QVariant(modelStateLabel(at.info.state).icon) : QVariant();
    case kShareRole:
      return column == kState && at.info.state == ModelInfo::State::kLoading ? QVariant(at.info.progress) : QVariant();
    case Qt::ToolTipRole:
      return at.info.error.isEmpty() ? at.info.path : at.info.error;
    default:
      return {};
  }
}

}  // namespace larder::gui
