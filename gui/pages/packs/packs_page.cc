// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/packs/packs_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <limits>

#include "gui/models/pack_model.h"
#include "gui/pages/packs/pack_cost.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/card.h"
#include "gui/widgets/column_fit.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/row_delegate.h"

namespace larder::gui {
namespace {

constexpr int kListWidth = 380;
constexpr int kVerbsWidth = 300;

QLabel* note(const Theme& theme) {
  auto* label = new QLabel;
  label->setWordWrap(true);
  label->setFont(theme.font(TextSize::kSmall));
  label->setTextFormat(Qt::PlainText);
  return label;
}

}  // namespace

PacksPage::PacksPage(const QString& title, PageContext context)
    : Page(title, Body::kFixed, context),
      packs_model_(new PackModel(this)),
      packs_(new QTableView),
      parts_(new QWidget),
      empty_(new EmptyState(context.theme, EmptyState::Outline::kNone)),
      text_card_(new Card(context.theme, tr("Text"))),
      text_(new QPlainTextEdit),
      figures_(new FigureGrid(context.theme, 2)),
      cost_(note(context.theme)),
      state_(note(context.theme)),
      progress_(new QProgressBar),
      warm_(new QPushButton),
      pin_(new QPushButton) {
  packs_->setModel(packs_model_);
  packs_->setObjectName(QStringLiteral("packTable"));
  packs_->setAccessibleName(tr("Packs"));
  setUpTable(theme(), *packs_);
  stretchColumn(*packs_, PackModel::kName);
  packs_->setColumnHidden(PackModel::kVersion, true);
  packs_->setFixedWidth(kListWidth);
  auto* row = new QHBoxLayout(parts_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(theme().metrics().gap);
  row->addWidget(packs_);
  row->addWidget(buildText(), 1);
  row->addWidget(buildVerbs());
  body()->addWidget(parts_, 1);
  body()->addWidget(empty_, 1);
  empty_->setText(tr("No packs here"), tr("The packs come with Larder; this engine found none beside its program."));
  connect(packs_->selectionModel(), &QItemSelectionModel::currentChanged, this, &PacksPage::showPack);
  connect(&client(), &EngineClient::linkChanged, this, &PacksPage::showPack);
  connect(warm_, &QPushButton::clicked, this, [this] { warm(false); });
  connect(pin_, &QPushButton::clicked, this, &PacksPage::pinOrUnpin);
}

PacksPage::~PacksPage() = default;

QWidget* PacksPage::buildText() {
  text_->setObjectName(QStringLiteral("packText"));
  text_->setReadOnly(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  text_->setTabChangesFocus(true);
  text_->setFont(theme().monoFont(TextSize::kSmall));
  text_->setAccessibleName(tr("Text of the pack, read only"));
  text_card_->body()->addWidget(text_, 1);
  return text_card_;
}

QWidget* PacksPage::buildVerbs() {
  auto* side = new QWidget;
  side->setFixedWidth(kVerbsWidth);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(theme().metrics().gap);
  auto* facts = new Card(theme(), tr("What it takes"));
  facts->body()->addWidget(figures_);
  column->addWidget(facts);
  auto* verbs = new Card(theme(), tr("Keep it ready"));
  warm_->setObjectName(QStringLiteral("packWarm"));
  pin_->setObjectName(QStringLiteral("packPin"));
  progress_->setRange(0, 0);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("The pack is being read"));
  cost_->setObjectName(QStringLiteral("packCost"));
  for (QWidget* one : std::initializer_list<QWidget*>{cost_, progress_, warm_, pin_, state_}) {
    verbs->body()->addWidget(one);
  }
  column->addWidget(verbs);
  column->addStretch(1);
  return side;
}

void PacksPage::themeChanged() {
  warm_->setIcon(theme().icon(QStringLiteral("warm")));
  shown_text_of_.clear();
  showPack();
}

void PacksPage::openWith(const QVariant& argument) {
  refreshNow();
  const int row = packs_model_->indexOf(argument.toString());
  if (row >= 0) packs_->selectRow(row);
}

const PackInfo* PacksPage::chosen() const {
  const QModelIndex at = packs_->currentIndex();
  return at.isValid() ? &packs_model_->row(at.row()).info : nullptr;
}

const PackInfo* PacksPage::find(const QString& id) const {
  const int row = packs_model_->indexOf(id);
  return row < 0 ? nullptr : &packs_model_->row(row).info;
}

void PacksPage::showSnapshot(const SnapshotView& view) {
  packs_model_->setView(view);
  growColumns(*packs_);
  if (!packs_->currentIndex().isValid() && packs_model_->rowCount() > 0) packs_->selectRow(0);
  parts_->setVisible(packs_model_->rowCount() > 0);
  empty_->setVisible(packs_model_->rowCount() == 0);
  int warm = 0, pinned = 0;
  for (const PackInfo& pack : view.packs) {
    warm += pack.warm ? 1 : 0;
    pinned += pack.pinned ? 1 : 0;
  }
  setSubtitle(tr("%n packs", nullptr, static_cast<int>(view.packs.size())) +
              tr(" \u00b7 %1 warm \u00b7 %2 pinned").arg(warm).arg(pinned));
  showPack();
}

void PacksPage::showPack() {
  const PackInfo* pack = chosen();
  if (pack == nullptr) return;
  const QString key = pack->id + QLatin1Char(' ') + QString::number(pack->version);
  if (shown_text_of_ != key) {
    shown_text_of_ = key;
    text_->setPlainText(pack->text);
    text_->setFont(theme().monoFont(TextSize::kSmall));
  }
  text_card_->setNote(tr("%1, read only").arg(pack->name));
  const SnapshotView& view = *client().view();
  showCost(view, *pack);
  showVerbs(view, *pack);
}

void PacksPage::showCost(const SnapshotView& view, const PackInfo& pack) {
  const PackCost cost = packCost(view, pack);
  const QString language = QLocale::languageToString(QLocale(pack.language).language());
  figures_->setFigures(
      {{tr("Tokens"), cost.tokens == 0 ? noData() : countText(cost.tokens)},
       {tr("Language"), pack.language == QLatin1String("it")   ? tr("Italian")
                        : pack.language == QLatin1String("en") ? tr("English")
                                                               : language},
       {tr("To compute"), cost.compute_ms == 0 ? tr("nothing: kept") : durationText(cost.compute_ms)},
       {tr("In the pool"),
        cost.bytes == 0 ? noData()
                        : tr("%1, %n blocks", nullptr, static_cast<int>(cost.blocks)).arg(bytesText(cost.bytes))},
       {tr("Version"), countText(pack.version)},
       {tr("Measured at"), rateText(view.prefill_tokens_per_s, tr("tok"))}});
  QString text;
  if (readyModel(view) == nullptr) {
    text = tr("Load a model first: a pack is counted and kept for the model that reads it.");
  } else if (pack.warm) {
    text =
        tr("It is kept: a request that begins with it starts at its first new token. Pinned, it stays under pressure.");
  } else if (cost.tokens == 0) {
    text = tr("Its tokens are counted when it is warmed for the first time with this model.");
  } else if (cost.compute_ms < 0) {
    text = tr("Warming reads %1 tokens and keeps %2. No rate has been measured yet.")
               .arg(countText(cost.tokens), bytesText(cost.bytes));
  } else {
    text = tr("Warming takes at most %1 (%2 tokens at the measured rate) and keeps %3.")
               .arg(durationText(cost.compute_ms), countText(cost.tokens), bytesText(cost.bytes));
  }
  cost_->setText(text);
  const std::uint64_t pinned = pinnedBytes(view);
  state_->setText(
      tr("Pins hold %1 of a budget of %2.")
          .arg(bytesText(pinned), view.pool.pin_budget_bytes == 0 ? noData() : bytesText(view.pool.pin_budget_bytes)));
}

void PacksPage::showVerbs(const SnapshotView& view, const PackInfo& pack) {
  bool busy = waiting_.value(pack.id) > view.epoch;
  for (const JobInfo& job : view.jobs) {
    if (!job.done && job.verb == QStringLiteral("warm ") + pack.id) busy = true;
  }
  const bool can = client().linkState() == LinkState::kConnected && readyModel(view) != nullptr && !busy;
  const PackCost cost = packCost(view, pack);
  const QString took = cost.compute_ms > 0 ? QStringLiteral(" \u00b7 ") + durationText(cost.compute_ms) : QString();
  const QString held = cost.bytes > 0 ? QStringLiteral(" \u00b7 ") + bytesText(cost.bytes) : QString();
  warm_->setText(QLatin1Char(' ') + (pack.warm ? tr("Warm") : tr("&Warm now") + took));
  warm_->setEnabled(can && !pack.warm);
  pin_->setText(QLatin1Char(' ') + (pack.pinned ? tr("Un&pin") + held
                                    : pack.warm ? tr("&Pin") + held
                                                : tr("Warm and &pin") + held));
  pin_->setIcon(theme().icon(pack.pinned ? QStringLiteral("unpin") : QStringLiteral("pin")));
  warm_->setIcon(theme().icon(QStringLiteral("warm")));
  pin_->setEnabled(can);
  progress_->setVisible(busy);
}

void PacksPage::asked(const QString& id) {
  waiting_.insert(id, std::numeric_limits<std::uint64_t>::max());
  showPack();
}

// Until a view shows what was done, the button would still offer the same again. The next view may have been made
// before it was done, the one after that was not.
void PacksPage::answered(const QString& id, bool done) {
  waiting_.insert(id, done ? client().view()->epoch + 2 : 0);
  showPack();
}

void PacksPage::warm(bool pin) {
  const PackInfo* pack = chosen();
  if (pack == nullptr) return;
  const QString id = pack->id, name = pack->name;
  asked(id);
  client().perform(command::WarmPack{id, pin}, this, [this, id, name, pin](const CommandOutcome& outcome) {
    answered(id, outcome.ok);
    if (!outcome.ok) {
      shell().showProblem(pin ? tr("The pack %1 was not pinned").arg(name) : tr("The pack %1 was not warmed").arg(name),
                          outcome.message);
    } else if (pin) {
      shell().showToast(tr("Pinned the pack %1: %2").arg(name, bytesText(outcome.bytes)), tr("Undo"),
                        [this, id, name] { unpin(id, name); });
    } else {
      shell().showToast(tr("%1 is warm: %2 tokens are kept").arg(name, countText(outcome.tokens)));
    }
  });
}

void PacksPage::pinOrUnpin() {
  const PackInfo* pack = chosen();
  if (pack == nullptr) return;
  if (pack->pinned) {
    unpin(pack->id, pack->name);
  } else if (pack->warm) {
    pin(pack->id, pack->name);
  } else {
    warm(true);
  }
}

void PacksPage::pin(const QString& id, const QString& name) {
  const PackInfo* pack = find(id);
  if (pack == nullptr) return;
  asked(id);
  client().perform(command::PinNode{pack->node, tr("pack %1").arg(name), 0, false}, this,
                   [this, id, name](const CommandOutcome& outcome) {
                     answered(id, outcome.ok);
                     if (!outcome.ok) {
                       shell().showProblem(tr("The pack %1 was not pinned").arg(name), outcome.message);
                       return;
                     }
                     shell().showToast(tr("Pinned the pack %1: %2").arg(name, bytesText(outcome.bytes)), tr("Undo"),
                                       [this, id, name] { unpin(id, name); });
                   });
}

void PacksPage::unpin(const QString& id, const QString& name) {
  const PackInfo* pack = find(id);
  if (pack == nullptr) return;
  asked(id);
  client().perform(command::Unpin{PinId{}, pack->node}, this, [this, id, name](const CommandOutcome& outcome) {
    answered(id, outcome.ok);
    if (!outcome.ok) {
      shell().showProblem(tr("The pack %1 was not unpinned").arg(name), outcome.message);
      return;
    }
    shell().showToast(tr("Unpinned the pack %1; it stays warm until room is needed").arg(name), tr("Undo"),
                      [this, id, name] { pin(id, name); });
  });
}

}  // namespace larder::gui
