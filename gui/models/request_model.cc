// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/models/request_model.h"

#include "gui/models/words.h"
#include "gui/theme/numbers.h"

namespace larder::gui {
namespace {

using Row = RequestRow;

// What came of it: the verdict, or the state while there is none.
Label outcomeLabel(const RequestRecord& record) {
  const bool none = record.usage.prompt_tokens == 0 || record.state == RequestRecord::State::kFailed;
  return none ? stateLabel(record.state) : verdictLabel(record.verdict.kind);
}

bool isOver(const RequestRecord& record) { return record.state >= RequestRecord::State::kDone; }

QVariant chip(const Label& label, int role) {
  if (role == kMoodRole) return static_cast<int>(label.mood);
  return role == kIconRole ? QVariant(label.icon) : QVariant();
}

QVariant reusedShare(const RequestRow& row, int role) {
  if (role != kShareRole || row.record->usage.prompt_tokens == 0) return {};
  return static_cast<double>(row.record->verdict.reused_tokens) / row.record->usage.prompt_tokens;
}

QString known(bool is_known, const QString& text) { return is_known ? text : noData(); }
QString positive(double ms) { return ms > 0 ? durationText(ms) : noData(); }

}  // namespace

RequestModel::RequestModel(QObject* parent)
    : RowTable(
          {
              {tr("Request"), Side::kLeft,
               [](const Row& row) { return QStringLiteral("#%1").arg(row.record->id.value); },
               [](const Row& row) { return orderOf(row.record->id.value); }},
              {tr("Time"), Side::kLeft, [](const Row& row) { return clockText(row.record->submitted); },
               [](const Row& row) { return orderOf(row.record->id.value); }},
              {tr("Tenant"), Side::kLeft, [](const Row& row) { return row.tenant; }, nullptr, markLook<Row>},
              {tr("Model"), Side::kLeft, [](const Row& row) { return row.model; }},
              {tr("State"), Side::kLeft, [](const Row& row) { return stateLabel(row.record->state).text; }, nullptr,
               [](const Row& row, int role) { return chip(stateLabel(row.record->state), role); }},
              {tr("Prompt"), Side::kRight,
               [](const Row& row) {
                 return known(row.record->usage.prompt_tokens > 0, countText(row.record->usage.prompt_tokens));
               },
               [](const Row& row) { return orderOf(row.record->usage.prompt_tokens); }},
              {tr("Reused"), Side::kRight,
               [](const Row& row) {
                 return known(row.record->usage.prompt_tokens > 0, countText(row.record->verdict.reused_tokens));
               },
               [](const Row& row) { return orderOf(row.record->verdict.reused_tokens); }, reusedShare},
              {tr("Verdict"), Side::kLeft, [](const Row& row) { return outcomeLabel(*row.record).text; }, nullptr,
               [](const Row& row, int role) { return chip(outcomeLabel(*row.record), role); }},
              {tr("First token"), Side::kRight,
               [](const Row& row) { return positive(row.record->timings.first_token_ms); },
               [](const Row& row) { return QVariant(row.record->timings.first_token_ms); }},
              {tr("Total"), Side::kRight,
               [](const Row& row) { return known(isOver(*row.record), durationText(row.record->timings.total_ms)); },
               [](const Row& row) { return QVariant(row.record->timings.total_ms); }},
              {tr("Saved"), Side::kRight, [](const Row& row) { return positive(row.record->verdict.saved_ms); },
               [](const Row& row) { return QVariant(row.record->verdict.saved_ms); }},
          },
          parent) {}

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

}  // namespace larder::gui
