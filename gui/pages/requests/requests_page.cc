// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/requests_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/words.h"
#include "gui/pages/requests/miss_card.h"
#include "gui/pages/requests/miss_text.h"
#include "gui/pages/requests/waterfall.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/card.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/row_delegate.h"
#include "gui/widgets/search_field.h"

namespace larder::gui {

RequestsPage::RequestsPage(const QString& title, PageContext context)
    : Page(title, Body::kFixed, context),
      model_(new RequestModel(this)),
      proxy_(new RequestProxy(model_)),
      table_(new QTableView),
      filter_field_(new SearchField(context.theme, tr("tenant: verdict: ttft> prompt>"), QStringLiteral("Ctrl+F"))),
      filter_error_(new QLabel),
      none_(new QLabel),
      states_(new QStackedWidget),
      empty_(new EmptyState(context.theme, EmptyState::Outline::kNone)) {
  filter_field_->setObjectName(QStringLiteral("requestFilter"));
  filter_field_->setAccessibleName(tr("Filter requests"));
  filter_field_->setToolTip(
      tr("tenant:home  verdict:evicted  state:failed  model:smol  #5127  ttft>2s  prompt>4000  reused<50%"));
  filter_field_->setMinimumWidth(300);
  titleRow()->addWidget(filter_field_);
  filter_error_->setObjectName(QStringLiteral("filterError"));
  filter_error_->hide();
  body()->addWidget(filter_error_);
  buildTable();
  auto* split = new QSplitter(Qt::Horizontal);
  split->addWidget(buildList());
  detail_ = buildDetail();
  split->addWidget(detail_);
  split->setStretchFactor(0, 10);
  split->setStretchFactor(1, 9);
  split->setSizes({690, 540});
  split->setChildrenCollapsible(false);
  split->setHandleWidth(theme().metrics().gap);
  states_->addWidget(empty_);
  states_->addWidget(split);
  body()->addWidget(states_, 1);
  connect(filter_field_, &QLineEdit::textChanged, this, &RequestsPage::filterEdited);
  connect(filter_field_, &SearchField::nextWanted, this, [this] { table_->setFocus(); });
  connect(empty_, &EmptyState::primaryWanted, this, [this] {
    if (readyModel(*client().view()) == nullptr) {
      shell().chooseModel();
    } else {
      shell().openPage(QStringLiteral("chat"));
    }
  });
  connect(&client(), &EngineClient::linkChanged, this, &RequestsPage::showCount);
  connect(&client(), &EngineClient::pausedChanged, this, &RequestsPage::showCount);
  themeChanged();
}

void RequestsPage::buildTable() {
  table_->setObjectName(QStringLiteral("requestTable"));
  table_->setAccessibleName(tr("Requests"));
  table_->setModel(proxy_);
  setUpTable(theme(), *table_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(RequestModel::kId, Qt::DescendingOrder);
  QHeaderView* header = table_->horizontalHeader();
  for (const int hidden : {RequestModel::kModel, RequestModel::kState, RequestModel::kTotal, RequestModel::kSaved}) {
    table_->setColumnHidden(hidden, true);
  }
  header->moveSection(header->visualIndex(RequestModel::kFirstToken), header->visualIndex(RequestModel::kVerdict));
  const std::pair<int, int> widths[] = {{RequestModel::kId, 78},      {RequestModel::kTime, 80},
                                        {RequestModel::kTenant, 122}, {RequestModel::kPrompt, 64},
                                        {RequestModel::kReused, 110}, {RequestModel::kFirstToken, 88}};
  for (const auto& [column, width] : widths) table_->setColumnWidth(column, width);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &RequestsPage::followSelection);
}

QWidget* RequestsPage::buildList() {
  auto* holder = new QWidget;
  auto* column = new QVBoxLayout(holder);
  column->setContentsMargins(0, 0, 0, 0);
  none_->setText(tr("No request of this time range meets the filter. Esc in the filter shows all."));
  none_->setWordWrap(true);
  none_->hide();
  column->addWidget(none_);
  column->addWidget(table_, 1);
  return holder;
}

QWidget* RequestsPage::buildDetail() {
  auto* inside = new QWidget;
  inside->setObjectName(QStringLiteral("requestDetail"));
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(theme().metrics().gap);
  times_card_ = new Card(theme(), QString());
  times_title_ = new QLabel;
  times_card_->titleLine()->insertWidget(0, times_title_);
  times_ = new Waterfall(theme());
  times_->setObjectName(QStringLiteral("waterfall"));
  lost_ = new QLabel;
  lost_->setObjectName(QStringLiteral("lostLine"));
  lost_->setWordWrap(true);
  times_card_->body()->addWidget(times_);
  times_card_->body()->addWidget(lost_);
  column->addWidget(times_card_);
  miss_ = new MissCard(theme());
  column->addWidget(miss_);
  column->addStretch(1);
  connect(miss_, &MissCard::treeWanted, this,
          [this](quint64 node) { shell().openPage(QStringLiteral("tree"), QVariant::fromValue(node)); });
  connect(miss_, &MissCard::copyWanted, this, [this](const QString& report) {
    QApplication::clipboard()->setText(report);
    shell().showToast(tr("Copied without prompt text"));
  });
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setStyleSheet(QStringLiteral(
      "QScrollArea, QScrollArea > QWidget > QWidget#requestDetail { background: transparent; border: 0; }"));
  scroll->setWidget(inside);
  scroll->setMinimumWidth(420);
  return scroll;
}

void RequestsPage::openWith(const QVariant& argument) {
  if (argument.typeId() == QMetaType::QString) {
    filter_field_->setText(argument.toString());
    return;
  }
  const quint64 id = argument.toULongLong();
  if (id == 0) return;
  filter_field_->clear();
  selected_ = id;
  refreshNow();
  selectRequest(id);
  table_->setFocus();
}

void RequestsPage::focusSearch() { filter_field_->setFocus(); }

void RequestsPage::filterEdited(const QString& text) {
  const ParsedFilter parsed = parseRequestFilter(text);
  filter_error_->setText(parsed.error);
  filter_error_->setVisible(!parsed.error.isEmpty());
  if (!parsed.error.isEmpty()) return;
  filter_ = parsed.filter;
  applyFilter();
}

void RequestsPage::applyFilter() {
  const SnapshotView& view = *client().view();
  updating_ = true;
  proxy_->show(filter_, view.at - shell().rangeMs(), filter_.terms.isEmpty() ? selected_ : 0);
  updating_ = false;
  if (selected_ == 0 && proxy_->rowCount() > 0) {
    selectRequest(proxy_->index(0, 0).data(kIdRole).toULongLong());
  } else {
    selectRequest(selected_);
  }
  none_->setVisible(proxy_->rowCount() == 0);
  showCount();
}

void RequestsPage::showSnapshot(const SnapshotView& view) {
  updating_ = true;
  model_->setView(view);
  updating_ = false;
  states_->setCurrentIndex(view.requests.isEmpty() ? kEmpty : kList);
  filter_field_->setEnabled(!view.requests.isEmpty());
  if (view.requests.isEmpty()) showEmpty(view);
  applyFilter();
  showSelected();
}

void RequestsPage::showEmpty(const SnapshotView& view) {
  const bool ready = readyModel(view) != nullptr;
  empty_->setText(tr("No requests yet"),
                  ready ? tr("Send a prompt, from the Chat page or from a program that uses the API. Each request then "
                             "stands here with what it reused, how long its first token took, and why.")
                        : tr("Load a model first. Then each request stands here with what it reused, how long its "
                             "first token took, and why."));
  if (client().attached()) {
    empty_->setActions(QString());
  } else {
    empty_->setActions(ready ? tr("Open Chat") : tr("Choose a model\u2026"));
  }
}

void RequestsPage::selectRequest(std::uint64_t id) {
  const int row = model_->indexOf(id);
  const QModelIndex index = row < 0 ? QModelIndex() : proxy_->mapFromSource(model_->index(row, 0));
  if (!index.isValid()) return;
  if (table_->selectionModel()->isRowSelected(index.row()) && selected_ == id) return;
  table_->selectionModel()->setCurrentIndex(index, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  table_->scrollTo(index);
}

void RequestsPage::followSelection() {
  if (updating_ || !table_->currentIndex().isValid()) return;
  selected_ = table_->currentIndex().data(kIdRole).toULongLong();
  showSelected();
}

RequestPtr RequestsPage::selected() const {
  return selected_ == 0 ? nullptr : findRequest(*client().view(), RequestId{selected_});
}

void RequestsPage::showSelected() {
  const RequestPtr record = selected();
  times_card_->setVisible(record != nullptr);
  miss_->setVisible(record != nullptr);
  if (record == nullptr) return;
  showTimes(*record);
  miss_->showRequest(*client().view(), *record);
}

void RequestsPage::showTimes(const RequestRecord& record) {
  const SnapshotView& view = *client().view();
  const Timings& t = record.timings;
  const TenantInfo* tenant = findTenant(view, record.tenant);
  const ModelInfo* model = findModel(view, record.model);
  const bool answered = t.first_token_ms > 0;
  times_title_->setText(QStringLiteral("#%1").arg(record.id.value));
  times_card_->setNote(QStringLiteral("%1 \u00b7 %2 \u00b7 %3")
                           .arg(tenant != nullptr ? tenant->name : noData(), model != nullptr ? model->name : noData(),
                                clockText(record.submitted)));
  times_card_->setAside(answered ? tr("first token after %1").arg(durationText(t.first_token_ms))
                                 : stateLabel(record.state).text);
  const double lost = std::min(lostMs(record), t.prefill_ms);
  double at = 0;
  QVector<WaterfallStep> steps;
  const auto add = [&](const QString& name, double ms, double lost_ms, bool known) {
    steps.push_back({name, at, ms, lost_ms, 0, known});
    at += ms;
  };
  const bool looked_up = hasVerdict(record);
  add(tr("Prepare"), t.prepare_ms, 0, looked_up || answered);
  add(tr("Queue"), t.queue_ms, 0, looked_up || answered);
  if (record.verdict.restored && record.verdict.restored->tokens > 0) {
    steps.back().restored_ms = std::min(record.verdict.restored->ms, t.queue_ms);  // the restore ends the wait
  }
  add(tr("Look up"), t.match_ms, 0, looked_up);
  add(tr("Prefill"), t.prefill_ms, lost, t.prefill_ms > 0);
  add(tr("First token"), std::max(0.0, t.first_token_ms - at), 0, answered);
  times_->setSteps(steps, std::max(at, t.first_token_ms));
  if (lost > 0) {
    lost_->setText(tr("Hatched: lost to the miss, %1. Without it the first token came after %2.")
                       .arg(durationText(lost), durationText(t.first_token_ms - lost)));
  } else if (answered) {
    const QString rate = rateText(t.decode_tokens_per_s, tr("tok"));
    lost_->setText(tr("Nothing lost to a miss. Then %1 tokens were written at %2.")
                       .arg(countText(record.usage.completion_tokens), rate));
  } else {
    lost_->setText(tr("No token yet."));
  }
}

void RequestsPage::showCount() {
  const SnapshotView& view = *client().view();
  const bool stale = client().stale();
  if (stale && view.at > 0) {
    setSubtitle(tr("last values from %1").arg(clockText(view.at)));
  } else if (client().paused() && view.at > 0) {
    setSubtitle(tr("paused at %1").arg(clockText(view.at)));
  } else if (view.requests.isEmpty()) {
    setSubtitle(QString());
  } else {
    setSubtitle(tr("%1 shown of %2 kept \u00b7 %3 running, %4 queued")
                    .arg(countText(static_cast<std::uint64_t>(proxy_->rowCount())),
                         countText(static_cast<std::uint64_t>(view.requests.size())), countText(view.running),
                         countText(view.queued)));
  }
}

void RequestsPage::themeChanged() {
  times_title_->setFont(theme().font(TextSize::kBody, true));
  for (QLabel* label : {lost_, none_, filter_error_}) {
    label->setFont(theme().font(TextSize::kSmall));
    QPalette muted = label->palette();
    muted.setColor(QPalette::WindowText, theme().color(label == filter_error_ ? Tone::kError : Tone::kTextSecondary));
    label->setPalette(muted);
  }
}

}  // namespace larder::gui
