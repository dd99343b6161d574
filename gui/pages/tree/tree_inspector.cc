// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tree/tree_inspector.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/bridge/tree_rows.h"
#include "gui/models/words.h"
#include "gui/pages/tree/job_panel.h"
#include "gui/pages/tree/verb_button.h"
#include "gui/theme/label.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/chip.h"

namespace larder::gui {
namespace {

constexpr int kRequestsShown = 4;

// What a pin of this run would newly claim: every run from the root to it that no pin holds yet.
std::uint64_t unpinnedPathBytes(const TreeRows& tree, int index) {
  std::uint64_t bytes = 0;
  for (; index >= 0; index = tree.rows[static_cast<std::size_t>(index)].parent) {
    const TreeNode* node = tree.nodeOf(tree.rows[static_cast<std::size_t>(index)]);
    if (node != nullptr && !node->pinned) bytes += node->bytes;
  }
  return bytes;
}

std::uint64_t budgetLeft(const SnapshotView& view) {
  const std::uint64_t pinned = view.pool.bytes_pinned;
  return view.pool.pin_budget_bytes > pinned ? view.pool.pin_budget_bytes - pinned : 0;
}

}  // namespace

TreeInspector::TreeInspector(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      head_(new QLabel(tr("Inspector"))),
      title_(new QLabel),
      chips_(new QHBoxLayout),
      facts_(new FactRows(theme, TextSize::kBody)),
      verbs_head_(new QLabel(tr("What you can do"))),
      pin_(new VerbButton(theme, QStringLiteral("pin"), tr("Pin"), QStringLiteral("P"), false)),
      unpin_(new VerbButton(theme, QStringLiteral("unpin"), tr("Unpin"), QStringLiteral("P"), false)),
      move_(new VerbButton(theme, QStringLiteral("move"), tr("Move or copy\u2026"), QStringLiteral("M"), false)),
      verify_(new VerbButton(theme, QStringLiteral("verify"), tr("Verify copies\u2026"), QStringLiteral("V"), false)),
      compress_(new VerbButton(theme, QStringLiteral("compress"), tr("Compress\u2026"), QStringLiteral("C"), false)),
      decompress_(new VerbButton(theme, QStringLiteral("decompress"), tr("Compute exactly again\u2026"),
                                 QStringLiteral("C"), false)),
      delete_(new VerbButton(theme, QStringLiteral("delete"), tr("Delete with all below\u2026"), tr("Del"), true)),
      jobs_(new JobPanel(theme)),
      requests_head_(new QLabel(tr("Last requests that made or used it"))) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 16, 16);
  column->setSpacing(8);
  column->addWidget(head_);
  title_->setWordWrap(true);
  title_->setObjectName(QStringLiteral("inspectorTitle"));
  column->addWidget(title_);
  chips_->setSpacing(6);
  chips_->addStretch(1);
  column->addLayout(chips_);
  facts_->setObjectName(QStringLiteral("inspectorFacts"));
  column->addWidget(facts_);
  column->addSpacing(4);
  column->addWidget(verbs_head_);
  pin_->setObjectName(QStringLiteral("pinButton"));
  unpin_->setObjectName(QStringLiteral("unpinButton"));
  move_->setObjectName(QStringLiteral("moveButton"));
  verify_->setObjectName(QStringLiteral("verifyButton"));
  compress_->setObjectName(QStringLiteral("compressButton"));
  decompress_->setObjectName(QStringLiteral("decompressButton"));
  delete_->setObjectName(QStringLiteral("deleteButton"));
  for (VerbButton* button : {pin_, unpin_, move_, verify_, compress_, decompress_, delete_}) column->addWidget(button);
  column->addSpacing(4);
  column->addWidget(jobs_);
  column->addSpacing(4);
  column->addWidget(requests_head_);
  for (int i = 0; i < kRequestsShown; ++i) {
    auto* button = new QPushButton;
    button->setProperty("role", QStringLiteral("link"));
    connect(button, &QPushButton::clicked, this,
            [this, button] { Q_EMIT requestWanted(button->property("request").toULongLong()); });
    requests_.push_back(button);
    column->addWidget(button, 0, Qt::AlignLeft);
  }
  column->addStretch(1);
  connect(pin_, &QAbstractButton::clicked, this, &TreeInspector::pinWanted);
  connect(unpin_, &QAbstractButton::clicked, this, &TreeInspector::unpinWanted);
  connect(delete_, &QAbstractButton::clicked, this, &TreeInspector::deleteWanted);
  connect(move_, &QAbstractButton::clicked, this, &TreeInspector::popupMoves);
  connect(verify_, &QAbstractButton::clicked, this, &TreeInspector::verifyWanted);
  connect(compress_, &QAbstractButton::clicked, this, &TreeInspector::popupCodecs);
  connect(decompress_, &QAbstractButton::clicked, this, &TreeInspector::popupCodecs);
  connect(jobs_, &JobPanel::cancelWanted, this, &TreeInspector::cancelWanted);
  connect(&theme, &Theme::changed, this, &TreeInspector::restyle);
  restyle();
}

void TreeInspector::setChips(const QVector<QString>& texts) {
  if (texts == chip_texts_) return;
  chip_texts_ = texts;
  for (QWidget* chip : std::as_const(chip_widgets_)) delete chip;
  chip_widgets_.clear();
  for (qsizetype i = 0; i < texts.size(); ++i) {
    auto* chip = new Chip(theme_, Label{texts[i], QString(), Mood::kNeutral});
    chips_->insertWidget(static_cast<int>(i), chip);
    chip_widgets_.push_back(chip);
  }
}

void TreeInspector::showRow(const SnapshotView& view, std::uint64_t key, bool verbs) {
  const TreeRows& tree = *view.tree;
  const int index = tree.indexOfKey(key);
  const TreeRow* row = index < 0 ? nullptr : &tree.rows[static_cast<std::size_t>(index)];
  const TreeNode* node = row == nullptr ? nullptr : tree.nodeOf(*row);
  verbs_head_->setVisible(node != nullptr);
  pinned_ = node != nullptr && node->pinned;
  pin_->setVisible(node != nullptr && !pinned_);
  unpin_->setVisible(pinned_);
  for (VerbButton* button : {move_, verify_, delete_}) button->setVisible(node != nullptr);
  const bool rounded = node != nullptr && isRounded(node->lineage);
  compress_->setVisible(node != nullptr && !rounded);
  decompress_->setVisible(rounded);
  for (VerbButton* button : {pin_, unpin_, delete_}) button->setEnabled(verbs);
  const QVector<VerbButton*> tier_verbs{move_, verify_, compress_, decompress_};
  for (VerbButton* button : tier_verbs) button->setEnabled(verbs && view.store.used);
  jobs_->showJobs(view, verbs);
  requests_head_->setVisible(node != nullptr);
  if (node == nullptr) {
    for (QPushButton* button : std::as_const(requests_)) button->hide();
  }
  if (row == nullptr) {
    title_->setText(tr("Nothing selected"));
    setChips({});
    facts_->setFacts({{tr("Select a box in the tree to see what it holds."), QString()}});
    return;
  }
  title_->setText(tree.labelOf(*row, view));
  const TenantInfo* tenant = findTenant(view, row->tenant);
  if (node == nullptr) {
    setChips({});
    facts_->setFacts(groupFacts(row->all));
    return;
  }
  QVector<QString> chips{tenant != nullptr ? tenant->name : noData()};
  if (node->pinned) chips.push_back(tr("pinned"));
  if (isForeign(node->lineage)) chips.push_back(tr("computed elsewhere"));
  if (isRounded(node->lineage)) chips.push_back(tr("rounded to %1").arg(node->lineage));
  if (node->growing) chips.push_back(tr("growing"));
  setChips(chips);
  facts_->setFacts(runFacts(*node, *row, view.at));
  pin_->setCost(
      tr("takes %1 of %2 pin budget left").arg(bytesText(unpinnedPathBytes(tree, index)), bytesText(budgetLeft(view))));
  unpin_->setCost(tr("lets it give way under pressure"));
  delete_->setCost(tr("%1, %2 to compute again").arg(bytesText(row->all.bytes), durationText(row->all.compute_ms)));
  if (view.store.used) {
    showTierCosts(*node, blockBytesOf(view, node->id));
  } else {
    for (VerbButton* button : tier_verbs) button->setCost(tr("the disk tier is not used"));
  }
  showRequests(view, *node);
}

FactRows::Facts TreeInspector::groupFacts(const TreeSums& all) {
  FactRows::Facts facts{{tr("Tokens"), countText(all.tokens)},
              {tr("Blocks"), countText(all.blocks)},
              {tr("Bytes"), bytesText(all.bytes)},
              {tr("Runs"), countText(all.nodes)},
              {tr("To compute"), all.compute_ms > 0 ? durationText(all.compute_ms) : noData()}};
  if (all.ram_blocks > 0) facts.insert(3, {tr("Copies in memory"), copiesInMemory(all)});
  return facts;
}

FactRows::Facts TreeInspector::runFacts(const TreeNode& node, const TreeRow& row, WallTime now) {
  const Tier tier = node.device_blocks > 0 ? Tier::kDevice : node.host_blocks > 0 ? Tier::kHost : Tier::kDisk;
  const bool hit = node.hits > 0;
  FactRows::Facts facts{
      {tr("Tokens"), tr("%1 \u00b7 %n blocks", nullptr, static_cast<int>(node.blocks)).arg(countText(node.tokens))},
      {tr("From position"), countText(node.first_position)},
      {tr("Where"), QStringLiteral("%1 \u00b7 %2").arg(tierLabel(tier), bytesText(node.bytes))},
      {tr("With all below"), tr("%1 tokens \u00b7 %2").arg(countText(row.all.tokens), bytesText(row.all.bytes))},
      {tr("Hits"),
       hit ? tr("%1, last %2 ago").arg(countText(node.hits), agoText(node.last_hit, now)) : tr("none yet")},
      {tr("To compute again"), node.compute_ms > 0 ? durationText(node.compute_ms) : noData()},
      {tr("In use"), node.in_use ? tr("by a running request") : tr("no")}};
  if (node.ram_blocks > 0) facts.insert(3, {tr("Copies in memory"), copiesInMemory(row.own)});
  return facts;
}

// Of what lies on disk only.
QString TreeInspector::copiesInMemory(const TreeSums& sums) {
  return tr("%1 of %Ln blocks on disk \u00b7 %2", nullptr, static_cast<int>(sums.disk_blocks))
      .arg(countText(sums.ram_blocks), bytesText(sums.ram_bytes));
}

void TreeInspector::showTierCosts(const TreeNode& node, std::uint64_t block_bytes) {
  const auto bytes = [block_bytes](std::uint32_t blocks) { return bytesText(blocks * block_bytes); };
  move_->setCost(tr("%1 in memory, %2 on disk").arg(bytes(node.blocks - node.disk_blocks), bytes(node.stored_blocks)));
  verify_->setCost(tr("reads %1 from disk").arg(bytes(node.stored_blocks)));
  compress_->setCost(tr("smaller on disk, but rounded"));
  decompress_->setCost(tr("%1 to compute").arg(durationText(node.compute_ms)));
}

void TreeInspector::popupMoves() {
  if (!move_->isVisible() || !move_->isEnabled()) return;
  auto* menu = new QMenu(this);
  menu->setObjectName(QStringLiteral("moveMenu"));
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const auto add = [&](const QString& text, const QString& to, bool keep) {
    menu->addAction(text, this, [this, to, keep] { Q_EMIT moveWanted(to, keep); });
  };
  add(tr("Move to &disk\u2026"), QStringLiteral("disk"), false);
  add(tr("&Copy to disk\u2026"), QStringLiteral("disk"), true);
  menu->addSeparator();
  add(tr("Move to &memory\u2026"), QStringLiteral("pool"), false);
  add(tr("C&opy to memory\u2026"), QStringLiteral("pool"), true);
  menu->popup(move_->mapToGlobal(QPoint(0, move_->height())));
  menu->setActiveAction(menu->actions().first());
}

void TreeInspector::popupCodecs() {
  if (decompress_->isVisible() && decompress_->isEnabled()) Q_EMIT decompressWanted();
  if (!compress_->isVisible() || !compress_->isEnabled()) return;
  auto* menu = new QMenu(this);
  menu->setObjectName(QStringLiteral("codecMenu"));
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("To int&8: about half the bytes\u2026"), this,
                  [this] { Q_EMIT compressWanted(QStringLiteral("int8")); });
  menu->addAction(tr("To int&4: about a third, and more is lost\u2026"), this,
                  [this] { Q_EMIT compressWanted(QStringLiteral("int4")); });
  menu->popup(compress_->mapToGlobal(QPoint(0, compress_->height())));
  menu->setActiveAction(menu->actions().first());
}

void TreeInspector::showRequests(const SnapshotView& view, const TreeNode& node) {
  qsizetype shown = 0;
  for (auto it = view.requests.crbegin(); it != view.requests.crend() && shown < requests_.size(); ++it) {
    const RequestRecord& record = **it;
    const bool made = record.id == node.made_by;
    // A later request of the same tenant that reused past this run's end went through it or a sibling; only the maker
    // and those whose nearest sibling it is can be named for sure.
    const bool compared = record.verdict.divergence && record.verdict.divergence->cached_by == node.made_by;
    if (!made && !compared) continue;
    QPushButton* button = requests_[shown++];
    button->setProperty("request", QVariant::fromValue(static_cast<qulonglong>(record.id.value)));
    button->setText(QStringLiteral("#%1  %2  %3")
                        .arg(record.id.value)
                        .arg(clockText(record.submitted), made ? tr("made it") : tr("left it")));
    button->show();
  }
  for (qsizetype i = shown; i < requests_.size(); ++i) requests_[i]->hide();
  requests_head_->setVisible(shown > 0);
}

void TreeInspector::restyle() {
  head_->setFont(theme_.font(TextSize::kAxis));
  head_->setEnabled(false);
  title_->setFont(theme_.font(TextSize::kEmphasis, true));
  for (QLabel* label : {verbs_head_, requests_head_}) {
    label->setFont(theme_.font(TextSize::kSmall));
    label->setEnabled(false);
  }
}

}  // namespace larder::gui
