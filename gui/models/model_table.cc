// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/model_table.h"

#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = ModelRow;

QVariant tip(const ModelRow& row, int role) {
  if (role != Qt::ToolTipRole) return {};
  return row.info.error.isEmpty() ? row.info.path : row.info.error;
}

QVariant stateLook(const ModelRow& row, int role) {
  const Label label = modelStateLabel(row.info.state);
  switch (role) {
    case kMoodRole:
      return static_cast<int>(label.mood);
    case kIconRole:
      return label.icon;
    case kShareRole:
      return row.info.state == ModelInfo::State::kLoading ? QVariant(row.info.progress) : QVariant();
    default:
      return tip(row, role);
  }
}

QString orNoData(const QString& text) { return text.isEmpty() ? noData() : text; }
QString countOrNoData(std::uint64_t count) { return count == 0 ? noData() : countText(count); }

}  // namespace

ModelTable::ModelTable(QObject* parent)
    : RowTable(
          {
              {tr("Model"), Side::kLeft, [](const Row& row) { return row.info.name; }, nullptr, tip},
              {tr("State"), Side::kLeft,
               [](const Row& row) {
                 return row.info.state == ModelInfo::State::kLoading
                            ? tr("loading, %1").arg(percentText(row.info.progress, 1))
                            : modelStateLabel(row.info.state).text;
               },
               nullptr, stateLook},
              {tr("Architecture"), Side::kLeft, [](const Row& row) { return orNoData(row.info.architecture); }, nullptr,
               tip},
              {tr("Weights"), Side::kLeft, [](const Row& row) { return orNoData(row.info.quantisation); }, nullptr,
               tip},
              {tr("File"), Side::kRight, [](const Row& row) { return bytesText(row.info.file_bytes); },
               [](const Row& row) { return orderOf(row.info.file_bytes); }, tip},
              {tr("KV per token"), Side::kRight,
               [](const Row& row) {
                 return row.info.kv_bytes_per_token == 0 ? noData() : bytesText(row.info.kv_bytes_per_token);
               },
               [](const Row& row) { return orderOf(row.info.kv_bytes_per_token); }, tip},
              {tr("Context"), Side::kRight, [](const Row& row) { return countOrNoData(row.info.n_context); },
               [](const Row& row) { return orderOf(row.info.n_context); }, tip},
              {tr("Longest request"), Side::kRight,
               [](const Row& row) { return countOrNoData(row.info.max_request_tokens); },
               [](const Row& row) { return orderOf(row.info.max_request_tokens); }, tip},
          },
          parent) {}

void ModelTable::setView(const SnapshotView& view) {
  QVector<ModelRow> next;
  for (const ModelInfo& model : view.models) next.push_back(ModelRow{model});
  setRows(std::move(next));
}

}  // namespace larder::gui
