// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/requests/miss_card.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/bridge/tree_rows.h"
#include "gui/models/words.h"
#include "gui/pages/requests/eviction_line.h"
#include "gui/pages/requests/miss_text.h"
#include "gui/pages/requests/prompt_strip.h"
#include "gui/pages/requests/token_rows.h"
#include "gui/theme/numbers.h"
#include "gui/theme/theme.h"
#include "gui/widgets/chip.h"

namespace larder::gui {
namespace {

QVector<QString> shownTokens(const QVector<QString>& texts, const QVector<Token>& ids) {
  QVector<QString> out;
  for (qsizetype i = 0; i < ids.size() || i < texts.size(); ++i) {
    const bool readable = i < texts.size() && !texts[i].isEmpty();
    out.push_back(readable ? visibleToken(texts[i]) : i < ids.size() ? QString::number(ids[i]) : noData());
  }
  return out;
}

QPushButton* linkButton(const QString& text) {
  auto* button = new QPushButton(text);
  button->setProperty("role", QStringLiteral("link"));
  return button;
}

}  // namespace

MissCard::MissCard(const Theme& theme, QWidget* parent)
    : Card(theme, QString(), parent),
      theme_(theme),
      chip_(new Chip(theme)),
      sentence_(new QLabel),
      restored_(new QLabel),
      strip_(new PromptStrip(theme)),
      position_(new QLabel),
      tokens_(new TokenRows(theme)),
      tokens_note_(new QLabel),
      moments_(new EvictionLine(theme)),
      facts_(new QGridLayout),
      tree_(linkButton(tr("Show in &tree"))),
      copy_(linkButton(tr("&Copy without prompt text"))) {
  titleLine()->insertWidget(0, chip_);
  setNote(tr("why this request reused what it did and no more"));
  sentence_->setObjectName(QStringLiteral("missSentence"));
  restored_->setObjectName(QStringLiteral("missRestored"));
  position_->setObjectName(QStringLiteral("missPosition"));
  for (QLabel* label : {sentence_, restored_, position_, tokens_note_}) {
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  tokens_note_->setText(tr("Only ids: the text of these tokens is not kept, or may not be shown here."));
  body()->addWidget(sentence_);
  body()->addWidget(restored_);
  body()->addWidget(strip_);
  body()->addWidget(position_);
  body()->addWidget(tokens_);
  body()->addWidget(tokens_note_);
  body()->addWidget(moments_);
  facts_->setHorizontalSpacing(10);
  facts_->setVerticalSpacing(4);
  facts_->setColumnStretch(1, 1);
  facts_->setColumnStretch(3, 1);
  body()->addLayout(facts_);
  auto* links = new QHBoxLayout;
  links->addWidget(tree_);
  links->addWidget(copy_);
  links->addStretch(1);
  body()->addLayout(links);
  copy_->setObjectName(QStringLiteral("copyReport"));
  connect(tree_, &QPushButton::clicked, this, [this] { Q_EMIT treeWanted(node_); });
  connect(copy_, &QPushButton::clicked, this, [this] { Q_EMIT copyWanted(report_); });
  connect(&theme, &Theme::changed, this, &MissCard::restyle);
  restyle();
}

void MissCard::showRequest(const SnapshotView& view, const RequestRecord& record) {
  const bool known = hasVerdict(record);
  const bool failed = record.state == RequestRecord::State::kFailed;
  chip_->setLabel(failed || !known ? stateLabel(record.state) : verdictLabel(record.verdict.kind));
  sentence_->setText(missSentence(view, record));
  const QString restored = restoreText(record.verdict);
  restored_->setText(restored);
  restored_->setVisible(!restored.isEmpty());
  const QString position = positionText(view, record);
  position_->setText(position);
  position_->setVisible(!position.isEmpty());
  showStrip(record);
  showTokens(record);
  showEviction(view, record);
  showFacts(view, record);
  findNode(view, record);
  report_ = reportWithoutText(view, record);
}

void MissCard::showStrip(const RequestRecord& record) {
  const Verdict& verdict = record.verdict;
  strip_->setVisible(hasVerdict(record));
  QVector<StripPart> parts;
  for (const Section& section : record.sections) {
    if (section.token_end > section.token_begin) {
      parts.push_back({sectionLabel(section), section.token_begin, section.token_end});
    }
  }
  std::uint32_t marker = verdict.prompt_tokens;
  if (verdict.divergence) marker = verdict.divergence->token;
  if (verdict.kind == VerdictKind::kEvicted) marker = verdict.reused_tokens;
  strip_->setPrompt(verdict.prompt_tokens, verdict.reused_tokens, marker, parts);
}

void MissCard::showTokens(const RequestRecord& record) {
  const bool shown = record.verdict.divergence.has_value();
  tokens_->setVisible(shown);
  tokens_note_->setVisible(shown && record.here_tokens.isEmpty());
  if (!shown) return;
  const Divergence& at = *record.verdict.divergence;
  const auto id = [](Token token) { return token < 0 ? noData() : tr("id %1").arg(token); };
  const QString cached = at.cached_by.value == 0 ? tr("Cached") : tr("Cached, #%1").arg(at.cached_by.value);
  tokens_->setRows({tr("This request"), shownTokens(record.here_tokens, at.here_run), id(at.here)},
                   {cached, shownTokens(record.cached_tokens, at.cached_run), id(at.cached)}, differingPlace(at));
}

void MissCard::showEviction(const SnapshotView& view, const RequestRecord& record) {
  moments_->setVisible(record.verdict.eviction.has_value());
  if (!record.verdict.eviction) return;
  const Eviction& out = *record.verdict.eviction;
  QVector<EvictionMoment> moments;
  if (out.last_hit > 0) moments.push_back({clockText(out.last_hit), tr("last hit")});
  QString by = out.policy == QLatin1String("demoted") ? tr("left memory") : tr("evicted");
  if (out.by_request.value != 0) {
    const TenantInfo* tenant = findTenant(view, out.by_tenant);
    by = tr("evicted \u00b7 #%1").arg(out.by_request.value);
    if (tenant != nullptr) by += QLatin1Char(' ') + tenant->name;
  }
  moments.push_back({out.at > 0 ? clockText(out.at) : noData(), by, true});
  moments.push_back({clockText(record.submitted), tr("asked again \u00b7 #%1").arg(record.id.value)});
  moments_->setMoments(moments);
}

void MissCard::showFacts(const SnapshotView& view, const RequestRecord& record) {
  const QVector<Fact> facts = missFacts(view, record);
  while (fact_names_.size() < facts.size()) {
    const int at = static_cast<int>(fact_names_.size());
    auto* name = new QLabel;
    auto* value = new QLabel;
    for (QLabel* label : {name, value}) label->setFont(theme_.font(TextSize::kSmall));
    name->setEnabled(false);
    value->setWordWrap(true);
    value->setTextFormat(Qt::PlainText);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->addWidget(name, at / 2, at % 2 * 2, Qt::AlignTop);
    facts_->addWidget(value, at / 2, at % 2 * 2 + 1, Qt::AlignTop);
    fact_names_.push_back(name);
    fact_values_.push_back(value);
  }
  for (qsizetype i = 0; i < fact_names_.size(); ++i) {
    const bool used = i < facts.size();
    fact_names_[i]->setVisible(used);
    fact_values_[i]->setVisible(used);
    if (!used) continue;
    fact_names_[i]->setText(facts[i].name);
    fact_values_[i]->setText(facts[i].value);
  }
}

void MissCard::findNode(const SnapshotView& view, const RequestRecord& record) {
  node_ = 0;
  const RequestId sibling = record.verdict.divergence ? record.verdict.divergence->cached_by : RequestId{};
  for (const TreeNode& node : view.tree->nodes) {
    if (node.made_by == record.id) node_ = node.id.value;
    if (node_ == 0 && sibling.value != 0 && node.made_by == sibling) node_ = node.id.value;
  }
  tree_->setVisible(node_ != 0);
}

void MissCard::restyle() {
  sentence_->setFont(theme_.font(TextSize::kEmphasis, true));
  for (QLabel* label : {position_, tokens_note_}) {
    label->setFont(theme_.font(TextSize::kSmall));
    QPalette muted = label->palette();
    muted.setColor(QPalette::WindowText, theme_.color(Tone::kTextSecondary));
    label->setPalette(muted);
  }
  for (QLabel* label : fact_names_ + fact_values_) label->setFont(theme_.font(TextSize::kSmall));
  tree_->setIcon(theme_.icon(QStringLiteral("tree"), theme_.color(Tone::kAccent)));
  copy_->setIcon(theme_.icon(QStringLiteral("copy"), theme_.color(Tone::kAccent)));
}

}  // namespace larder::gui
