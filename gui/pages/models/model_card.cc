// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/models/model_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/words.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/chip.h"
#include "gui/widgets/figure_grid.h"

namespace larder::gui {
namespace {

constexpr int kProgressSteps = 1000;

}  // namespace

ModelCard::ModelCard(const Theme& theme, QWidget* parent)
    : Card(theme, QString(), parent),
      theme_(theme),
      name_(new QLabel),
      chip_(new Chip(theme)),
      retry_(new QPushButton(tr("Try &again"))),
      stop_(new QPushButton),
      figures_(new FigureGrid(theme, 5)),
      progress_(new QProgressBar),
      reason_(new QLabel) {
  setObjectName(QStringLiteral("modelCard"));
  name_->setTextFormat(Qt::PlainText);
  name_->setFont(theme.font(TextSize::kEmphasis, true));
  stop_->setObjectName(QStringLiteral("modelStop"));
  retry_->setObjectName(QStringLiteral("modelRetry"));
  titleLine()->insertWidget(0, name_);
  titleLine()->insertWidget(1, chip_);
  titleLine()->addWidget(retry_);
  titleLine()->addWidget(stop_);
  progress_->setRange(0, kProgressSteps);
  progress_->setTextVisible(false);
  reason_->setObjectName(QStringLiteral("modelReason"));
  reason_->setTextFormat(Qt::PlainText);
  reason_->setWordWrap(true);
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  body()->addWidget(progress_);
  body()->addWidget(figures_);
  body()->addWidget(reason_);
  connect(stop_, &QPushButton::clicked, this, [this] { Q_EMIT stopWanted(model_.id); });
  connect(retry_, &QPushButton::clicked, this, [this] { Q_EMIT retryWanted(model_.path); });
}

void ModelCard::showModel(const SnapshotView& view, const ModelInfo& model, bool verbs) {
  using State = ModelInfo::State;
  model_ = model;
  name_->setText(model.name);
  chip_->setLabel(modelStateLabel(model.state));
  const bool loading = model.state == State::kLoading;
  const bool failed = model.state == State::kFailed;
  const QString stop = loading ? tr("&Cancel loading") : failed ? tr("&Dismiss") : tr("&Unload\u2026");
  if (stop_->text() != stop) stop_->setText(stop);
  stop_->setVisible(model.state != State::kUnloading);
  stop_->setEnabled(verbs);
  stop_->setAccessibleDescription(model.name);
  retry_->setVisible(failed);
  retry_->setEnabled(verbs);
  progress_->setVisible(loading);
  progress_->setValue(static_cast<int>(model.progress * kProgressSteps));
  progress_->setAccessibleName(tr("Loading %1").arg(model.name));
  figures_->setVisible(!failed && !loading);
  if (!failed && !loading) showFigures(view, model);
  const QString reason = reasonText(view, model);
  reason_->setText(reason);
  reason_->setVisible(!reason.isEmpty());
  QPalette ink = reason_->palette();
  ink.setColor(QPalette::WindowText, theme_.color(failed ? Tone::kError : Tone::kTextSecondary));
  reason_->setPalette(ink);
}

void ModelCard::showFigures(const SnapshotView& view, const ModelInfo& model) {
  const auto tokens = [](std::uint32_t count) { return count == 0 ? noData() : tr("%1 tokens").arg(countText(count)); };
  const auto text = [](const QString& value) { return value.isEmpty() ? noData() : value; };
  const auto bytes = [](std::uint64_t value) { return value == 0 ? noData() : bytesText(value); };
  const QString weights = model.quantisation.isEmpty()
                              ? bytes(model.weight_bytes)
                              : QStringLiteral("%1, %2").arg(model.quantisation, bytes(model.weight_bytes));
  figures_->setFigures({{tr("Weights"), weights},
                        {tr("Context"), tokens(model.n_context)},
                        {tr("Longest request"), tokens(model.max_request_tokens)},
                        {tr("KV per token"), bytes(model.kv_bytes_per_token)},
                        {tr("Chat template"), model.has_chat_template ? tr("yes") : tr("no: plain text only")},
                        {tr("Reading (prefill)"), rateText(view.prefill_tokens_per_s, tr("tok"))},
                        {tr("Writing (decode)"), rateText(view.decode_tokens_per_s, tr("tok"))},
                        {tr("Architecture"), text(model.architecture)},
                        {tr("Arithmetic"), text(model.arithmetic_id)},
                        {tr("Device"), text(model.device.isEmpty() ? view.device : model.device)}});
}

QString ModelCard::reasonText(const SnapshotView& view, const ModelInfo& model) const {
  using State = ModelInfo::State;
  if (model.state == State::kLoading) {
    QString text = tr("%1 of the file is read and checked.").arg(percentText(model.progress, 1));
    if (const ModelInfo* old = readyModel(view)) text += QLatin1Char(' ') + tr("%1 answers until then.").arg(old->name);
    return text;
  }
  if (model.state == State::kUnloading) {
    return tr("%n requests are being ended, then its memory is free.", nullptr, static_cast<int>(view.running));
  }
  if (model.state == State::kFailed) {
    const QString why = model.error.isEmpty() ? tr("The file was refused.") : model.error;
    return why + QLatin1Char('\n') +
           tr("What to do: check the file at %1, or choose another GGUF file. A model that answered before still does.")
               .arg(model.path);
  }
  return {};
}

}  // namespace larder::gui
