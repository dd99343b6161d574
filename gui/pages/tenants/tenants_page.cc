// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/tenants/tenants_page.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

#include "gui/models/key_model.h"
#include "gui/models/request_model.h"
#include "gui/models/tenant_model.h"
#include "gui/models/words.h"
#include "gui/pages/tenants/tenant_dialogs.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/card.h"
#include "gui/widgets/column_fit.h"
#include "gui/widgets/confirm_dialog.h"
#include "gui/widgets/figure_grid.h"
#include "gui/widgets/row_delegate.h"
#include "gui/widgets/tier_bar.h"

namespace larder::gui {
namespace {

// Keys of one tenant.
class KeysOfTenant final : public QSortFilterProxyModel {
 public:
  KeysOfTenant(const KeyModel& keys, QObject* parent) : QSortFilterProxyModel(parent), keys_(keys) {}

  void setTenant(TenantId id) {
    if (id == tenant_) return;
    tenant_ = id;
    invalidateFilter();
  }

 protected:
  bool filterAcceptsRow(int row, const QModelIndex&) const override { return keys_.row(row).info.tenant == tenant_; }

 private:
  const KeyModel& keys_;
  TenantId tenant_{};
};

}  // namespace

TenantsPage::TenantsPage(const QString& title, PageContext context)
    : Page(title, Body::kFixed, context),
      tenants_model_(new TenantModel(this)),
      keys_model_(new KeyModel(this)),
      own_keys_(new KeysOfTenant(*keys_model_, this)),
      tenants_(new QTableView),
      keys_(new QTableView),
      name_(new QLabel),
      keys_note_(new QLabel),
      bar_(new TierBar(context.theme, Tier::kHost)),
      figures_(new FigureGrid(context.theme, 4)),
      detail_(new QWidget),
      create_(new QPushButton(QLatin1Char(' ') + tr("New &tenant\u2026"))),
      create_key_(new QPushButton(tr("New &key\u2026"))),
      revoke_(new QPushButton(tr("&Revoke\u2026"))),
      delete_(new QPushButton(tr("&Delete tenant\u2026"))),
      foreign_(new QCheckBox(tr("May reuse what the same model computed on another device or &instruction set"))) {
  create_->setProperty("role", QStringLiteral("primary"));
  create_->setObjectName(QStringLiteral("tenantCreate"));
  create_->setIcon(theme().icon(QStringLiteral("plus"), theme().color(Tone::kOnAccent)));
  titleRow()->addWidget(create_);
  body()->addWidget(buildList(), 2);
  body()->addWidget(buildDetail(), 3);
  connect(create_, &QPushButton::clicked, this, &TenantsPage::askNewTenant);
  connect(create_key_, &QPushButton::clicked, this, &TenantsPage::askNewKey);
  connect(revoke_, &QPushButton::clicked, this, &TenantsPage::askRevoke);
  connect(delete_, &QPushButton::clicked, this, &TenantsPage::askDelete);
  connect(foreign_, &QCheckBox::clicked, this, &TenantsPage::setForeign);
  connect(tenants_->selectionModel(), &QItemSelectionModel::currentChanged, this, &TenantsPage::showDetail);
  connect(keys_->selectionModel(), &QItemSelectionModel::currentChanged, this, &TenantsPage::showDetail);
  connect(&client(), &EngineClient::linkChanged, this, &TenantsPage::showDetail);
}

TenantsPage::~TenantsPage() = default;

QWidget* TenantsPage::buildList() {
  tenants_->setModel(tenants_model_);
  tenants_->setObjectName(QStringLiteral("tenantTable"));
  tenants_->setAccessibleName(tr("Tenants"));
  setUpTable(theme(), *tenants_);
  stretchColumn(*tenants_, TenantModel::kName);
  tenants_->setMinimumHeight(120);
  return tenants_;
}

QWidget* TenantsPage::buildDetail() {
  auto* column = new QVBoxLayout(detail_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(theme().metrics().gap);
  held_ = new Card(theme(), QString());
  name_->setObjectName(QStringLiteral("tenantTitle"));
  name_->setTextFormat(Qt::PlainText);
  name_->setFont(theme().font(TextSize::kEmphasis, true));
  held_->titleLine()->insertWidget(0, name_);
  delete_->setProperty("role", QStringLiteral("danger"));
  delete_->setObjectName(QStringLiteral("tenantDelete"));
  held_->titleLine()->addWidget(delete_);
  held_->body()->addWidget(bar_);
  held_->body()->addWidget(figures_);
  foreign_->setObjectName(QStringLiteral("tenantForeign"));
  foreign_->setToolTip(
      tr("Close to what this one would compute and not equal bit for bit; each answer from it says so"));
  held_->body()->addWidget(foreign_);
  column->addWidget(held_);
  column->addWidget(buildKeys(), 1);
  return detail_;
}

Card* TenantsPage::buildKeys() {
  auto* card = new Card(theme(), tr("Keys"));
  card->setNote(tr("the tenant comes from the key, never from the request"));
  create_key_->setObjectName(QStringLiteral("keyCreate"));
  revoke_->setObjectName(QStringLiteral("keyRevoke"));
  revoke_->setProperty("role", QStringLiteral("danger"));
  card->titleLine()->addWidget(create_key_);
  card->titleLine()->addWidget(revoke_);
  own_keys_->setSourceModel(keys_model_);
  keys_->setModel(own_keys_);
  keys_->setObjectName(QStringLiteral("keyTable"));
  keys_->setAccessibleName(tr("Keys of the tenant"));
  setUpTable(theme(), *keys_);
  keys_->setColumnHidden(KeyModel::kTenant, true);
  stretchColumn(*keys_, KeyModel::kLabel);
  keys_->setMinimumHeight(100);
  card->body()->addWidget(keys_, 1);
  keys_note_->setEnabled(false);
  keys_note_->setWordWrap(true);
  keys_note_->setFont(theme().font(TextSize::kSmall));
  card->body()->addWidget(keys_note_);
  return card;
}

void TenantsPage::openWith(const QVariant& argument) {
  wanted_ = TenantId{argument.toUInt()};
  refreshNow();
}

bool TenantsPage::canAsk() const { return client().linkState() == LinkState::kConnected; }

const TenantInfo* TenantsPage::chosen() const {
  const QModelIndex at = tenants_->currentIndex();
  return at.isValid() ? &tenants_model_->row(at.row()).info : nullptr;
}

const KeyInfo* TenantsPage::chosenKey() const {
  const QModelIndex at = own_keys_->mapToSource(keys_->currentIndex());
  return at.isValid() ? &keys_model_->row(at.row()).info : nullptr;
}

void TenantsPage::choose(TenantId id) {
  const int row = tenants_model_->indexOf(id.value);
  if (row < 0) return;
  tenants_->selectRow(row);
  wanted_ = TenantId{};
}

void TenantsPage::showSnapshot(const SnapshotView& view) {
  tenants_model_->setView(view);
  keys_model_->setView(view);
  growColumns(*tenants_);
  if (wanted_ != TenantId{}) choose(wanted_);
  if (!tenants_->currentIndex().isValid() && tenants_model_->rowCount() > 0) tenants_->selectRow(0);
  setSubtitle(tr("%n tenants", nullptr, static_cast<int>(view.tenants.size())) + QStringLiteral(" \u00b7 ") +
              tr("%n keys", nullptr, static_cast<int>(view.keys.size())));
  showDetail();
}

void TenantsPage::showDetail() {
  const TenantInfo* tenant = chosen();
  detail_->setVisible(tenant != nullptr);
  create_->setEnabled(canAsk());
  if (tenant == nullptr) return;
  static_cast<KeysOfTenant*>(own_keys_)->setTenant(tenant->id);
  growColumns(*keys_);
  name_->setText(tenant->name);
  showHeld(*client().view(), *tenant);
  create_key_->setEnabled(canAsk());
  revoke_->setEnabled(canAsk() && chosenKey() != nullptr);
  delete_->setEnabled(canAsk());
  foreign_->setEnabled(canAsk());
  foreign_->setChecked(tenant->foreign);
  keys_note_->setText(own_keys_->rowCount() == 0
                          ? tr("No key yet: nothing can reach this tenant until one is created.")
                          : tr("A key is shown once, when it is created; Larder keeps only its hash. \u201cNever\u201d "
                               "means: not since the engine started."));
}

void TenantsPage::showHeld(const SnapshotView& view, const TenantInfo& tenant) {
  const std::uint64_t pool = view.pool.bytes_total;
  const std::uint64_t whole = tenant.quota_bytes > 0 ? tenant.quota_bytes : pool;
  const bool limited = tenant.quota_bytes > 0;
  bar_->setTier(poolTier(view));
  bar_->setAmounts(static_cast<double>(whole), {{static_cast<double>(tenant.bytes), tenantMark(view, tenant.id)}},
                   static_cast<double>(tenant.pinned_bytes));
  const QString held =
      limited ? tr("%1 of its limit of %2").arg(bytesText(tenant.bytes), bytesText(whole))
              : tr("%1 of the pool of %2").arg(bytesText(tenant.bytes), whole == 0 ? noData() : bytesText(whole));
  bar_->setAccessibleName(held);
  held_->setNote(
      tenant.pinned_bytes > 0
          ? tr("end of the bar: %1 \u00b7 bracket: pinned").arg(limited ? tr("its limit") : tr("the whole pool"))
          : tr("end of the bar: %1").arg(limited ? tr("its limit") : tr("the whole pool")));
  const QString reused =
      tenant.prompt_tokens == 0
          ? noData()
          : tr("%1 of %2, %3")
                .arg(countText(tenant.cached_tokens), countText(tenant.prompt_tokens),
                     percentText(static_cast<double>(tenant.cached_tokens), static_cast<double>(tenant.prompt_tokens)));
  figures_->setFigures({{tr("Kept"), held},
                        {tr("Blocks"), countText(tenant.blocks)},
                        {tr("Pinned"), tenant.pinned_bytes == 0 ? noData() : bytesText(tenant.pinned_bytes)},
                        {tr("Limit"), limited ? bytesText(tenant.quota_bytes) : tr("none")},
                        {tr("Prompt tokens reused"), reused},
                        {tr("Requests"), countText(tenant.requests)},
                        {tr("Running"), countText(tenant.running)},
                        {tr("Queued"), countText(tenant.queued)}});
}

void TenantsPage::askNewTenant() {
  auto* dialog = new NewTenantDialog({theme(), client(), shell()}, this);
  connect(dialog, &NewTenantDialog::made, this, [this](TenantId id, const QString& name) {
    wanted_ = id;
    choose(id);
    shell().showToast(tr("Created the tenant %1; it needs a key next").arg(name));
  });
  dialog->open();
}

void TenantsPage::askNewKey() {
  const TenantInfo* tenant = chosen();
  if (tenant == nullptr) return;
  auto* dialog = new NewKeyDialog({theme(), client(), shell()}, *tenant, this);
  connect(dialog, &NewKeyDialog::made, this, [this](const QString& label, const QString& secret) {
    (new KeyShownDialog(theme(), label, secret, this))->open();
  });
  dialog->open();
}

void TenantsPage::askRevoke() {
  const KeyInfo* key = chosenKey();
  if (key == nullptr) return;
  const QString name = key->label.isEmpty() ? key->prefix : key->label;
  const QString used = key->last_used == 0
                           ? tr("It has not been used since the engine started.")
                           : tr("It was last used %1 ago.").arg(agoText(key->last_used, client().view()->at));
  auto* dialog = new ConfirmDialog(
      theme(),
      {tr("Revoke the key %1?").arg(name),
       tr("Programs that use it are refused from now on. What they had computed stays with the tenant.") +
           QLatin1Char(' ') + used,
       tr("&Revoke"), QString()},
      this);
  connect(dialog, &QDialog::accepted, this, [this, id = key->id, name] {
    client().perform(command::RevokeKey{id}, this, [this, name](const CommandOutcome& outcome) {
      if (outcome.ok) {
        shell().showToast(tr("Revoked the key %1").arg(name));
      } else {
        shell().showProblem(tr("The key %1 was not revoked").arg(name), outcome.message);
      }
    });
  });
  dialog->open();
}

void TenantsPage::setForeign(bool foreign) {
  const TenantInfo* tenant = chosen();
  if (tenant == nullptr) return;
  client().perform(command::SetTenant{tenant->id, foreign}, this,
                   [this, name = tenant->name](const CommandOutcome& outcome) {
                     if (outcome.ok) return;
                     shell().showProblem(tr("The tenant %1 was not changed").arg(name), outcome.message);
                     refreshNow();
                   });
}

void TenantsPage::askDelete() {
  const TenantInfo* tenant = chosen();
  if (tenant == nullptr) return;
  const int keys = tenants_model_->row(tenants_->currentIndex().row()).keys;
  QStringList parts{
      tr("%1 in %Ln blocks is freed and nothing of it can be found again.", nullptr, static_cast<int>(tenant->blocks))
          .arg(bytesText(tenant->bytes))};
  if (tenant->pinned_bytes > 0)
    parts.push_back(tr("%1 of it is pinned; the pins go too.").arg(bytesText(tenant->pinned_bytes)));
  parts.push_back(tr("%n keys stop working.", nullptr, keys));
  parts.push_back(
      tr("%n requests running or queued are ended.", nullptr, static_cast<int>(tenant->running + tenant->queued)));
  auto* dialog = new ConfirmDialog(theme(),
                                   {tr("Delete the tenant %1?").arg(tenant->name), parts.join(QLatin1Char('\n')),
                                    tr("&Delete %1").arg(bytesText(tenant->bytes)), tenant->name},
                                   this);
  connect(dialog, &QDialog::accepted, this, [this, id = tenant->id, name = tenant->name] {
    client().perform(command::DeleteTenant{id}, this, [this, name](const CommandOutcome& outcome) {
      if (outcome.ok) {
        shell().showToast(tr("Deleted the tenant %1").arg(name));
      } else {
        shell().showProblem(tr("The tenant %1 was not deleted").arg(name), outcome.message);
      }
    });
  });
  dialog->open();
}

}  // namespace larder::gui
