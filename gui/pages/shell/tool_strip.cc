// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/shell/tool_strip.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QToolButton>
#include <array>

#include "gui/bridge/engine_client.h"
#include "gui/theme/theme.h"
#include "gui/widgets/search_field.h"
#include "gui/widgets/segmented.h"

namespace larder::gui {
namespace {

// The engine keeps an hour of intervals.
constexpr std::array<qint64, 3> kRanges = {5 * 60'000, 30 * 60'000, 60 * 60'000};

}  // namespace

ToolStrip::ToolStrip(const Theme& theme, EngineClient& client, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      client_(client),
      place_(new QPushButton(QLatin1Char(' ') + client.place())),
      range_(new Segmented(tr("Time range"), {tr("Live 5 m"), tr("30 m"), tr("1 h")})),
      pause_(new QPushButton),
      undo_(new QToolButton),
      job_(new QWidget),
      job_text_(new QLabel),
      job_bar_(new QProgressBar),
      command_(new SearchField(theme, tr("Find or run a command"), QStringLiteral("Ctrl+K"))) {
  setFixedHeight(theme.metrics().toolbar);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(16, 0, 16, 0);
  row->setSpacing(8);
  place_->setFocusPolicy(Qt::NoFocus);
  place_->setAccessibleName(tr("Engine: %1").arg(client.place()));
  place_->setToolTip(client.attached() ? tr("The engine runs in another process")
                                       : tr("The engine runs in this window"));
  row->addWidget(place_);
  row->addWidget(range_);
  pause_->setCheckable(true);
  pause_->setObjectName(QStringLiteral("pauseButton"));
  row->addWidget(pause_);
  undo_->setAccessibleName(tr("Undo"));
  undo_->setToolTip(tr("Undo the last pin or unpin (Ctrl+Z)"));
  row->addWidget(undo_);
  row->addStretch(1);
  auto* job = new QHBoxLayout(job_);
  job->setContentsMargins(0, 0, 0, 0);
  job->addWidget(job_text_);
  job_bar_->setRange(0, 1000);
  job_bar_->setTextVisible(false);
  job_bar_->setFixedWidth(96);
  job->addWidget(job_bar_);
  auto* stop = new QPushButton(tr("Cancel"));
  stop->setProperty("role", QStringLiteral("quiet"));
  stop->setAccessibleName(tr("Cancel loading"));
  connect(stop, &QPushButton::clicked, this,
          [this] { client_.perform(command::UnloadModel{ModelId{job_model_}}, this, [](const CommandOutcome&) {}); });
  stop->setVisible(!client.attached());  // loading is for the window at the engine
  job->addWidget(stop);
  job_->hide();
  row->addWidget(job_);
  command_->setObjectName(QStringLiteral("commandField"));
  command_->setMinimumWidth(260);
  row->addWidget(command_);
  connect(range_, &Segmented::chosen, this, &ToolStrip::rangeChanged);
  connect(pause_, &QPushButton::toggled, &client, &EngineClient::setPaused);
  connect(&client, &EngineClient::pausedChanged, this, [this](bool paused) {
    pause_->setChecked(paused);
    restyle();
  });
  connect(undo_, &QToolButton::clicked, this, &ToolStrip::undoWanted);
  connect(&theme, &Theme::changed, this, &ToolStrip::restyle);
  restyle();
}

qint64 ToolStrip::rangeMs() const { return kRanges[static_cast<std::size_t>(qBound(0, range_->current(), 2))]; }

void ToolStrip::showJob(const SnapshotView& view) {
  for (const ModelInfo& model : view.models) {
    if (model.state != ModelInfo::State::kLoading) continue;
    job_model_ = model.id.value;
    job_text_->setText(tr("Loading %1").arg(model.name));
    job_bar_->setValue(static_cast<int>(1000 * model.progress));
    job_->show();
    return;
  }
  job_->hide();
}

void ToolStrip::restyle() {
  place_->setIcon(theme_.icon(QStringLiteral("models")));
  pause_->setIcon(theme_.icon(client_.paused() ? QStringLiteral("play") : QStringLiteral("pause")));
  pause_->setText(QLatin1Char(' ') + (client_.paused() ? tr("Go on") : tr("Pause")));
  undo_->setIcon(theme_.icon(QStringLiteral("undo")));
  update();
}

void ToolStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_.color(Tone::kSurface));
  painter.setPen(theme_.color(Tone::kBorder));
  painter.drawLine(rect().bottomLeft(), rect().bottomRight());
}

}  // namespace larder::gui
