// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/overview/overview_page.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <cmath>

#include "gui/models/words.h"
#include "gui/pages/overview/connect_card.h"
#include "gui/pages/overview/miss_list.h"
#include "gui/pages/overview/occupancy_card.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/kpi_card.h"
#include "gui/widgets/stacked_bars.h"
#include "gui/widgets/time_chart.h"

namespace larder::gui {
namespace {

constexpr int kBuckets = 60;
constexpr int kChartEveryMs = 250;  // four charts in turn: each once a second

QString percentTick(double value) {
  return withUnit(countText(static_cast<std::uint64_t>(value)), QStringLiteral("%"));
}

// Decades only, so no decimals.
QString latencyTick(double ms) {
  if (ms < 1) return durationText(ms);
  const bool seconds = ms >= 1000;
  const QString number = countText(static_cast<std::uint64_t>(std::llround(seconds ? ms / 1000 : ms)));
  return withUnit(number, seconds ? OverviewPage::tr("s") : OverviewPage::tr("ms"));
}
QString countTick(double value) { return countText(static_cast<std::uint64_t>(value)); }

Card* cardWith(const Theme& theme, const QString& title, const QString& note, QWidget* inside) {
  auto* card = new Card(theme, title);
  card->setNote(note);
  card->body()->addWidget(inside, 1);
  return card;
}

}  // namespace

OverviewPage::OverviewPage(const QString& title, PageContext context)
    : Page(title, Body::kScrolling, context), states_(new QStackedWidget), resident_(new QLabel) {
  resident_->setFont(theme().font(TextSize::kSmall));
  titleRow()->addWidget(resident_);
  auto* row = new QHBoxLayout;
  row->setSpacing(theme().metrics().gap);
  const std::array<QString, kKpis> titles = {tr("Prompt tokens reused"), tr("Prefill not computed"),
                                             tr("First token, warm"),    tr("First token, cold"),
                                             tr("Block pool"),           tr("Evictions")};
  const std::array<const char*, kKpis> targets = {"requests", "requests", "requests", "requests", "tree", "tree"};
  for (std::size_t i = 0; i < kpis_.size(); ++i) {
    kpis_[i] = new KpiCard(theme(), titles[i]);
    row->addWidget(kpis_[i], 1);
    const QString target = QString::fromLatin1(targets[i]);
    connect(kpis_[i], &KpiCard::clicked, this, [this, target] { shell().openPage(target); });
  }
  body()->addLayout(row);
  states_->addWidget(buildLive());
  states_->addWidget(buildEmpty());
  body()->addWidget(states_, 1);
  connect(&charts_, &QTimer::timeout, this, &OverviewPage::showNextChart);
  connect(&client(), &EngineClient::linkChanged, this, &OverviewPage::showStale);
  connect(&client(), &EngineClient::pausedChanged, this, &OverviewPage::showStale);
  charts_.start(kChartEveryMs);
}

QWidget* OverviewPage::buildLive() {
  const int gap = theme().metrics().gap;
  auto* live = new QWidget;
  auto* rows = new QVBoxLayout(live);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(gap);

  auto* upper = new QHBoxLayout;
  upper->setSpacing(gap);
  occupancy_ = new OccupancyCard(theme());
  upper->addWidget(occupancy_, 8);
  origin_ = new StackedBars(theme(), {BarPart{false, Tier::kHost}, BarPart{true, Tier::kHost}});
  origin_card_ = cardWith(theme(), tr("Where prompt tokens came from"), QString(), origin_);
  upper->addWidget(origin_card_, 7);
  rows->addLayout(upper, 1);

  auto* lower = new QHBoxLayout;
  lower->setSpacing(gap);
  latency_ = new TimeChart(theme(),
                           {{tr("warm p50"), Tone::kAccent},
                            {tr("warm p99"), Tone::kAccent, true},
                            {tr("cold p50"), Tone::kTextSecondary},
                            {tr("cold p99"), Tone::kTextSecondary, true}},
                           TimeChart::Scale::kLog, latencyTick);
  lower->addWidget(cardWith(theme(), tr("Time to first token"), tr("log scale; warm: full prefix"), latency_), 5);
  evictions_ = new TimeChart(theme(), {{QString(), Tone::kError, false, true}}, TimeChart::Scale::kCount, countTick);
  lower->addWidget(cardWith(theme(), tr("Evictions"), tr("blocks pushed out"), evictions_), 3);
  miss_card_ = new Card(theme(), tr("Misses worth mending"));
  misses_ = new MissList(theme());
  miss_card_->body()->addWidget(misses_, 1);
  lower->addWidget(miss_card_, 6);
  rows->addLayout(lower, 1);

  auto* last = new QHBoxLayout;
  last->setSpacing(gap);
  share_ = new TimeChart(theme(), {{QString(), Tone::kAccent, false, true}}, TimeChart::Scale::kPercent, percentTick);
  last->addWidget(cardWith(theme(), tr("Reused share"), tr("of prompt tokens asked"), share_), 1);
  pool_ = new TimeChart(theme(), {{tr("used"), Tone::kAccent, false, true}, {tr("pinned"), Tone::kText, true}},
                        TimeChart::Scale::kPercent, percentTick);
  last->addWidget(cardWith(theme(), tr("Pool over time"), tr("of all blocks"), pool_), 1);
  rows->addLayout(last, 1);

  connect(misses_, &MissList::requestWanted, this,
          [this](quint64 id) { shell().openPage(QStringLiteral("requests"), QVariant::fromValue(id)); });
  return live;
}

QWidget* OverviewPage::buildEmpty() {
  auto* holder = new QWidget;
  auto* row = new QHBoxLayout(holder);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(theme().metrics().gap);
  auto* card = new Card(theme(), QString());
  empty_ = new EmptyState(theme(), EmptyState::Outline::kTree);
  card->body()->addWidget(empty_, 1);
  row->addWidget(card, 5);
  connect_ = new ConnectCard(theme(), client());
  row->addWidget(connect_, 3, Qt::AlignTop);
  connect(empty_, &EmptyState::primaryWanted, this, &OverviewPage::loadFirst);
  connect(empty_, &EmptyState::secondWanted, this, [this] { shell().chooseModel(); });
  connect(connect_, &ConnectCard::copied, this, [this] { shell().showToast(tr("The command is in the clipboard")); });
  connect(connect_, &ConnectCard::keyWanted, this, [this] { shell().openPage(QStringLiteral("tenants")); });
  return holder;
}

void OverviewPage::loadFirst() {
  if (first_model_path_.isEmpty()) {
    shell().chooseModel();
    return;
  }
  client().perform(command::LoadModel{first_model_path_}, this, [this](const CommandOutcome& outcome) {
    if (!outcome.ok) shell().showProblem(tr("The model was not loaded"), outcome.message);
  });
}

void OverviewPage::showSnapshot(const SnapshotView& view) {
  range_ms_ = shell().rangeMs();
  at_ = view.at;
  blocks_total_ = view.pool.blocks_total;
  figures_ = countFigures(view, range_ms_, kBuckets);
  const ModelInfo* model = readyModel(view);
  resident_->setText(model != nullptr ? tr("Model in memory: %1").arg(model->name) : QString());
  const bool empty = model == nullptr && view.requests.isEmpty();
  const bool first_time = states_->currentIndex() != (empty ? 1 : 0) || view.epoch == 0;
  states_->setCurrentIndex(empty ? 1 : 0);
  for (int i = 0; i < states_->count(); ++i) {  // the hidden state must not stretch the page
    const auto policy = i == states_->currentIndex() ? QSizePolicy::Preferred : QSizePolicy::Ignored;
    states_->widget(i)->setSizePolicy(QSizePolicy::Preferred, policy);
  }
  showCards(view, figures_);
  showStale();
  if (empty) {
    showEmpty(view);
    return;
  }
  occupancy_->showView(view);
  miss_card_->setAside(figures_.lost_ms > 0 ? tr("%1 lost").arg(durationText(figures_.lost_ms)) : QString());
  misses_->setMisses(figures_.misses, view);
  if (first_time || !charts_.isActive()) showAllCharts();
}

void OverviewPage::showEmpty(const SnapshotView& view) {
  const ModelInfo* loading = nullptr;
  first_model_path_.clear();
  QString name;
  for (const ModelInfo& model : view.models) {
    if (model.state == ModelInfo::State::kLoading) loading = &model;
    if (model.state != ModelInfo::State::kFile || !first_model_path_.isEmpty()) continue;
    first_model_path_ = model.path;
    name = model.name;
  }
  if (loading != nullptr) {
    empty_->setText(tr("Loading %1").arg(loading->name), tr("%1 read").arg(percentText(loading->progress, 1)));
    empty_->setActions(QString());
    empty_->setDropHint(QString(), QString());
    return;
  }
  empty_->setText(tr("No model loaded"),
                  tr("Load a model and Larder starts to keep what it has read. After the first request the prefix tree "
                     "grows here: one box for each text it will not have to read again."));
  if (client().attached()) {
    empty_->setActions(QString());
    return;
  }
  empty_->setActions(first_model_path_.isEmpty() ? tr("Choose a model\u2026") : tr("Load %1").arg(name),
                     first_model_path_.isEmpty() ? QString() : tr("Choose another\u2026"));
  empty_->setDropHint(tr("or drop a .gguf file anywhere in this window"), tr("it is used where it lies"));
}

void OverviewPage::showCards(const SnapshotView& view, const OverviewFigures& f) {
  const QString none = f.requests == 0 ? tr("no data yet") : QString();
  kpis_[kReused]->setFigure(percentText(static_cast<double>(f.reused), static_cast<double>(f.asked)), QString(),
                            f.asked > 0 ? tr("%1 of %2").arg(countText(f.reused), countText(f.asked)) : none);
  kpis_[kSaved]->setFigure(f.saved_ms > 0 ? durationText(f.saved_ms) : noData(), QString(),
                           f.saved_ms > 0 ? tr("at the measured rate") : none);
  const auto latency = [&](const LatencyFigures& one) {
    return one.requests == 0 ? tr("no data yet")
                             : tr("p99 %1 \u00b7 %n requests", nullptr, one.requests).arg(durationText(one.p99_ms));
  };
  kpis_[kWarm]->setFigure(durationText(f.warm.p50_ms), f.warm.requests > 0 ? tr("p50") : QString(), latency(f.warm));
  kpis_[kCold]->setFigure(durationText(f.cold.p50_ms), f.cold.requests > 0 ? tr("p50") : QString(), latency(f.cold));
  const PoolInfo& pool = view.pool;
  kpis_[kPool]->setFigure(
      percentText(static_cast<double>(pool.bytes_taken), static_cast<double>(pool.bytes_total)), QString(),
      pool.bytes_total == 0 ? tr("no data yet") : tr("%1 free").arg(bytesText(pool.bytes_total - pool.bytes_taken)));
  kpis_[kEvictions]->setFigure(f.requests == 0 ? noData() : countText(f.evicted),
                               f.requests == 0 ? QString() : tr("blocks", "after a count", static_cast<int>(f.evicted)),
                               f.requests == 0 ? none : tr("pushed out of the pool"));
  std::array<QVector<double>, kKpis> past;
  for (const Bucket& bucket : f.buckets) {
    const double asked = static_cast<double>(bucket.asked);
    past[kReused].push_back(bucket.asked > 0 ? static_cast<double>(bucket.reused) / asked : -1);
    past[kSaved].push_back(bucket.known ? bucket.saved_ms : -1);
    past[kWarm].push_back(bucket.warm_p50_ms);
    past[kCold].push_back(bucket.cold_p50_ms);
    past[kPool].push_back(bucket.known ? static_cast<double>(bucket.blocks_used) : -1);
    past[kEvictions].push_back(bucket.known ? static_cast<double>(bucket.evicted) : -1);
  }
  for (std::size_t i = 0; i < kpis_.size(); ++i) kpis_[i]->setPast(past[i]);
  setSubtitle(f.requests == 0 ? tr("nothing has been asked yet")
                              : tr("%1 \u2013 %2 \u00b7 %n requests", nullptr, static_cast<int>(f.requests))
                                    .arg(minuteText(view.at - range_ms_), minuteText(view.at)));
}

void OverviewPage::showStale() {
  const bool stale = client().stale();
  for (KpiCard* card : kpis_) card->setStale(stale);
  occupancy_->setStale(stale);
  origin_->setStale(stale);
  for (TimeChart* chart : {latency_, evictions_, share_, pool_}) chart->setStale(stale);
  const WallTime at = client().view()->at;
  if (stale && at > 0) setSubtitle(tr("last values from %1").arg(clockText(at)));
  if (!stale && client().paused()) setSubtitle(tr("paused at %1").arg(clockText(at)));
}

void OverviewPage::showAllCharts() {
  showOrigin();
  showLatency();
  showShares();
}

void OverviewPage::showNextChart() {
  if (!isVisible() || states_->currentIndex() != 0 || at_ == 0) return;
  switch (next_chart_++ % 3) {
    case 0:
      showOrigin();
      break;
    case 1:
      showLatency();
      break;
    default:
      showShares();
  }
}

void OverviewPage::showLatency() {
  QVector<QVector<QPointF>> lines(4);
  for (const Bucket& bucket : std::as_const(figures_.buckets)) {
    const auto x = static_cast<double>(bucket.begin);
    if (bucket.warm_p50_ms >= 0) lines[0].push_back({x, bucket.warm_p50_ms});
    if (bucket.warm_p99_ms >= 0) lines[1].push_back({x, bucket.warm_p99_ms});
    if (bucket.cold_p50_ms >= 0) lines[2].push_back({x, bucket.cold_p50_ms});
    if (bucket.cold_p99_ms >= 0) lines[3].push_back({x, bucket.cold_p99_ms});
  }
  latency_->setPoints(lines, static_cast<double>(at_ - range_ms_), static_cast<double>(at_));
  latency_->setAccessibleName(tr("Time to first token: warm p50 %1, cold p50 %2")
                                  .arg(durationText(figures_.warm.p50_ms), durationText(figures_.cold.p50_ms)));
}

void OverviewPage::showShares() {
  QVector<QPointF> evicted, share, used, pinned;
  const double total = static_cast<double>(std::max<std::uint64_t>(1, blocks_total_));
  for (const Bucket& bucket : std::as_const(figures_.buckets)) {
    if (!bucket.known) continue;
    const auto x = static_cast<double>(bucket.begin);
    evicted.push_back({x, static_cast<double>(bucket.evicted)});
    if (bucket.asked > 0) {
      share.push_back({x, 100 * static_cast<double>(bucket.reused) / static_cast<double>(bucket.asked)});
    }
    used.push_back({x, 100 * bucket.blocks_used / total});
    pinned.push_back({x, 100 * bucket.blocks_pinned / total});
  }
  const auto begin = static_cast<double>(at_ - range_ms_), end = static_cast<double>(at_);
  evictions_->setPoints({evicted}, begin, end);
  share_->setPoints({share}, begin, end);
  pool_->setPoints({used, pinned}, begin, end);
  evictions_->setAccessibleName(tr("Evictions: %Ln blocks", nullptr, static_cast<int>(figures_.evicted)));
}

void OverviewPage::showOrigin() {
  QVector<BarColumn> columns;
  for (qsizetype i = 0; i + 1 < figures_.buckets.size(); i += 2) {
    const Bucket& a = figures_.buckets[i];
    const Bucket& b = figures_.buckets[i + 1];
    BarColumn column;
    column.label = minuteText(a.begin);
    column.parts[0] = static_cast<double>(a.reused + b.reused);
    column.parts[1] = static_cast<double>(a.asked + b.asked) - column.parts[0];
    columns.push_back(column);
  }
  origin_->setColumns(columns);
  const QString reused = countText(figures_.reused), computed = countText(figures_.asked - figures_.reused);
  origin_card_->setNote(tr("per %1").arg(spanText(range_ms_ / kBuckets * 2)));
  origin_card_->setAside(tr("reused %1 \u00b7 hatched: computed %2").arg(reused, computed));
  origin_->setAccessibleName(tr("Prompt tokens: %1 reused, %2 computed").arg(reused, computed));
}

void OverviewPage::themeChanged() { showAllCharts(); }

}  // namespace larder::gui
