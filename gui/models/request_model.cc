// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/request_model.h"

#include <algorithm>

#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

bool isFigure(int column) {
  switch (column) {
    case RequestModel::kPrompt:
    case RequestModel::kReused:
    case RequestModel::kFirstToken:
    case RequestModel::kTotal:
    case RequestModel::kSaved:
      return true;
    default:
      return false;
  }
}

// What came of it: the verdict, or the state while there is none.
Label outcomeLabel(const RequestRecord& record) {
  const bool none = record.usage.prompt_tokens == 0 || record.state == RequestRecord::State::kFailed;
  return none ? stateLabel(record.state) : verdictLabel(record.verdict.kind);
}

bool isOver(const RequestRecord& record) { return record.state >= RequestRecord::State::kDone; }

}  // namespace

int tenantMark(const SnapshotView& view, TenantId id) {
  QVector<TenantId> order;
  for (const TenantInfo& tenant : view.tenants) order.push_back(tenant.id);
  std::sort(order.begin(), order.end());
  const qsizetype at = order.indexOf(id);
  return at < 0 ? 0 : static_cast<int>(at);
}

void RequestModel::setView(const SnapshotView& view) {
  QHash<std::uint32_t, std::pair<QString, int>> tenants;
  for (const TenantInfo& tenant : view.tenants) {
    tenants.insert(tenant.id.value, {tenant.name, tenantMark(view, tenant.id)});
  }
  QVector<RequestRow> next;
  next.reserve(view.requests.size());
  for (auto it = view.requests.crbegin(); it != view.requests.crend(); ++it) {
    const auto tenant = tenants.value((*it)->tenant.value);
    const ModelInfo* model = findModel(view, (*it)->model);
    next.push_back(RequestRow{*it, tenant.first, model != nullptr ? model->name : noData(), tenant.second});
  }
  setRows(std::move(next));
}

int RequestModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kColumns; }

bool RequestModel::same(const RequestRow& a, const RequestRow& b) const {
  return a.record == b.record && a.tenant == b.tenant && a.model == b.model && a.mark == b.mark;
}

QVariant RequestModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::TextAlignmentRole && isFigure(section)) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::TextAlignmentRole) return QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kId:
      return tr("Request");
    case kTime:
      return tr("Time");
    case kTenant:
      return tr("Tenant");
    case kModel:
      return tr("Model");
    case kState:
      return tr("State");
    case kPrompt:
      return tr("Prompt");
    case kReused:
      return tr("Reused");
    case kVerdict:
      return tr("Verdict");
    case kFirstToken:
      return tr("First token");
    case kTotal:
      return tr("Total");
    case kSaved:
      return tr("Saved");
    default:
      return {};
  }
}

QString RequestModel::text(const RequestRow& row, int column) const {
  const RequestRecord& record = *row.record;
  switch (column) {
    case kId:
      return QStringLiteral("#%1").arg(record.id.value);
    case kTime:
      return clockText(record.submitted);
    case kTenant:
      return row.tenant;
    case kModel:
      return row.model;
    case kState:
      return stateLabel(record.state).text;
    case kPrompt:
      return record.usage.prompt_tokens == 0 ? noData() : countText(record.usage.prompt_tokens);
    case kReused:
      return record.usage.prompt_tokens == 0 ? noData() : countText(record.verdict.reused_tokens);
    case kVerdict:
      return outcomeLabel(record).text;
    case kFirstToken:
      return record.timings.first_token_ms > 0 ? durationText(record.timings.first_token_ms) : noData();
    case kTotal:
      return isOver(record) ? durationText(record.timings.total_ms) : noData();
    case kSaved:
      return record.verdict.saved_ms > 0 ? durationText(record.verdict.saved_ms) : noData();
    default:
      return {};
  }
}

QVariant RequestModel::sortValue(const RequestRow& row, int column) const {
  const RequestRecord& record = *row.record;
  switch (column) {
    case kId:
    case kTime:
      return QVariant::fromValue(static_cast<qulonglong>(record.id.value));
    case kPrompt:
      return record.usage.prompt_tokens;
    case kReused:
      return record.verdict.reused_tokens;
    case kFirstToken:
      return record.timings.first_token_ms;
    case kTotal:
      return record.timings.total_ms;
    case kSaved:
      return record.verdict.saved_ms;
    default:
      return text(row, column);
  }
}

QVariant RequestModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const RequestRow& at = row(index.row());
  const int column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return text(at, column);
    case Qt::TextAlignmentRole:
      return QVariant((isFigure(column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case kIdRole:
      return QVariant::fromValue(static_cast<qulonglong>(at.record->id.value));
    case kSortRole:
      return sortValue(at, column);
    case kMarkRole:
      return column == kTenant ? QVariant(at.mark) : QVariant();
    case kShareRole:
      if (column != kReused || at.record->usage.prompt_tokens == 0) return {};
      return static_cast<double>(at.record->verdict.reused_tokens) / at.record->usage.prompt_tokens;
    case kMoodRole:
    case kIconRole: {
      if (column != kVerdict && column != kState) return {};
      const Label label = column == kVerdict ? outcomeLabel(*at.record) : stateLabel(at.record->state);
      return role == kMoodRole ? QVariant(static_cast<int>(label.mood)) : QVariant(label.icon);
    }
    default:
      return {};
  }
}

}  // namespace larder::gui
