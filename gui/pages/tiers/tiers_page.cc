// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tiers/tiers_page.h"

#include <QVBoxLayout>

#include "gui/pages/tiers/tier_card.h"
#include "gui/pages/tiers/tier_facts.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/empty_state.h"

namespace larder::gui {
namespace {

constexpr int kEmptyHeight = 300;

void showTier(TierCard& card, const std::optional<TierFacts>& facts, bool stale) {
  card.setVisible(facts.has_value());
  if (facts) card.showFacts(*facts, stale);
}

}  // namespace

TiersPage::TiersPage(const QString& title, PageContext context)
    : Page(title, Body::kScrolling, context),
      pool_(new TierCard(context.theme, QStringLiteral("poolTier"))),
      ram_(new TierCard(context.theme, QStringLiteral("ramTier"))),
      disk_(new TierCard(context.theme, QStringLiteral("diskTier"))),
      empty_(new EmptyState(context.theme, EmptyState::Outline::kNone)) {
  empty_->setMinimumHeight(kEmptyHeight);
  for (QWidget* part : std::initializer_list<QWidget*>{empty_, pool_, ram_, disk_}) {
    body()->addWidget(part);
    part->hide();
  }
  body()->addStretch(1);
  connect(empty_, &EmptyState::primaryWanted, this, [this] { shell().chooseModel(); });
  connect(&client(), &EngineClient::linkChanged, this, &TiersPage::refreshNow);
}

void TiersPage::showSnapshot(const SnapshotView& view) {
  const bool stale = client().stale();
  const auto pool = poolFacts(view);
  const auto disk = diskFacts(view);
  showTier(*pool_, pool, stale);
  showTier(*ram_, ramFacts(view), stale);
  showTier(*disk_, disk, stale);
  showEmpty(!pool && !view.store.used);
  if (stale && view.at > 0) {
    setSubtitle(tr("last values from %1").arg(clockText(view.at)));
  } else if (pool && view.store.used) {
    setSubtitle(tr("a block may lie in memory and on disk at the same time"));
  } else {
    setSubtitle(QString());
  }
}

void TiersPage::showEmpty(bool nothing) {
  empty_->setVisible(nothing);
  if (!nothing) return;
  empty_->setText(tr("No tier holds anything yet"),
                  tr("With a model loaded, what it computes is kept in memory, and a copy of it on disk."));
  empty_->setActions(client().attached() ? QString() : tr("Choose a model\u2026"));
}

}  // namespace larder::gui
