// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/status_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <ctime>

#include "gui/bridge/engine_client.h"
#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kCostEveryMs = 2000;

double threadCpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

}  // namespace

StatusStrip::StatusStrip(const Theme& theme, EngineClient& client, QWidget* parent)
    : QWidget(parent), theme_(theme), client_(client), row_(new QHBoxLayout(this)), cost_(new QLabel) {
  setFixedHeight(theme.metrics().status_bar);
  row_->setContentsMargins(12, 0, 12, 0);
  row_->setSpacing(0);
  engine_ = addPart(tr("Engine"), QStringLiteral("models"));
  decode_ = addPart(tr("Decode rate"), QStringLiteral("requests"));
  reuse_ = addPart(tr("Reuse"), QStringLiteral("overview"));
  pool_ = addPart(tr("Pool"), QStringLiteral("tree"));
  work_ = addPart(tr("Requests"), QStringLiteral("requests"));
  dropped_ = addPart(tr("Dropped events"), QStringLiteral("overview"));
  row_->addStretch(1);
  row_->addWidget(cost_);
  setStyleSheet(
      QStringLiteral("QPushButton { border: 0; background: transparent; padding: 0 10px; min-height: 22px; } "
                     "QPushButton:focus { border: 2px solid palette(link); padding: 0 8px; }"));
  connect(&cost_timer_, &QTimer::timeout, this, &StatusStrip::showCost);
  cost_timer_.start(kCostEveryMs);
  since_.start();
  cpu_before_ms_ = threadCpuMs();
  showNow(0);
}

QPushButton* StatusStrip::addPart(const QString& name, const QString& page) {
  auto* button = new QPushButton;
  button->setAccessibleName(name);
  button->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Expanding);
  connect(button, &QPushButton::clicked, this, [this, page] { Q_EMIT pageWanted(page); });
  row_->addWidget(button);
  return button;
}

void StatusStrip::showEngine(const SnapshotView& view) {
  QString text, icon = QStringLiteral("pause");
  QColor ink = theme_.color(Tone::kTextSecondary);
  const ModelInfo* model = readyModel(view);
  if (client_.linkState() == LinkState::kConnecting) {
    text = client_.attached() ? tr("Connecting to %1\u2026").arg(client_.place()) : tr("Starting\u2026");
  } else if (client_.linkState() != LinkState::kConnected) {
    text = client_.attached() ? tr("%1 not reachable").arg(client_.place()) : tr("Engine not running");
    icon = QStringLiteral("error");
    ink = theme_.color(Tone::kError);
  } else if (model != nullptr) {
    text = tr("Engine running");
    icon = QStringLiteral("ok");
    ink = theme_.color(Tone::kOk);
  } else {
    text = tr("No model loaded");
  }
  engine_->setText(QLatin1Char(' ') + text);
  engine_->setFont(theme_.font(TextSize::kSmall, true));
  engine_->setIcon(theme_.icon(icon, ink));
}

void StatusStrip::showNow(qint64 range_ms) {
  const SnapshotView& view = *client_.view();
  showEngine(view);
  std::uint64_t prompt = 0, cached = 0;
  for (const Interval& interval : view.history) {
    if (interval.begin < view.at - range_ms) continue;
    prompt += interval.prompt_tokens;
    cached += interval.cached_tokens;
  }
  decode_->setText(tr("decode %1").arg(rateText(view.decode_tokens_per_s, tr("tok"))));
  reuse_->setText(tr("reused %1").arg(percentText(static_cast<double>(cached), static_cast<double>(prompt))));
  const double total = view.pool.blocks_total;
  pool_->setText(tr("pool %1").arg(percentText(total - view.pool.blocks_free, total)));
  work_->setText(tr("%1 running, %2 queued").arg(view.running).arg(view.queued));
  dropped_->setText(tr("events dropped %1").arg(countText(view.dropped_events)));
  const bool live = client_.linkState() == LinkState::kConnected;
  for (QPushButton* part : {decode_, reuse_, pool_, work_, dropped_}) {
    part->setFont(theme_.font(TextSize::kSmall));
    part->setVisible(live);
  }
  cost_->setFont(theme_.font(TextSize::kSmall));
}

void StatusStrip::showCost() {
  const double cpu = threadCpuMs();
  const double share = 100 * (cpu - cpu_before_ms_) / static_cast<double>(qMax<qint64>(1, since_.restart()));
  cpu_before_ms_ = cpu;
  cost_->setText(tr("this window: %1 % of one core").arg(QLocale().toString(share, 'f', 1)));
}

void StatusStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_.color(Tone::kNavigation));
  painter.setPen(theme_.color(Tone::kBorder));
  painter.drawLine(rect().topLeft(), rect().topRight());
}

}  // namespace larder::gui
