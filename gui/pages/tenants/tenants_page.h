// SPDX-License-Identifier: GPL-3.0-or-later
// TenantsPage: tenants with what they hold, and the keys of the chosen one.
// Threads: GUI thread.
#pragma once

#include "gui/pages/page.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace larder::gui {

class Card;
class EmptyState;
class FigureGrid;
class KeyModel;
class TenantMark;
class TenantModel;
class TierBar;

class TenantsPage final : public Page {
  Q_OBJECT

 public:
  TenantsPage(const QString& title, PageContext context);
  ~TenantsPage() override;

  void openWith(const QVariant& argument) override;  // a tenant id: its row is chosen

 protected:
  void showSnapshot(const SnapshotView& view) override;

 private:
  QWidget* buildList();
  QWidget* buildDetail();
  Card* buildKeys();
  void showDetail();
  void showHeld(const SnapshotView& view, const TenantInfo& tenant);
  void askNewTenant();
  void askNewKey();
  void askRevoke();
  void askDelete();
  void setForeign(bool foreign);
  bool canAsk() const;
  const TenantInfo* chosen() const;
  const KeyInfo* chosenKey() const;
  void choose(TenantId id);

  TenantModel* tenants_model_;
  KeyModel* keys_model_;
  QSortFilterProxyModel* own_keys_;
  QTableView* tenants_;
  QTableView* keys_;
  QLabel* name_;
  QLabel* keys_note_;
  TierBar* bar_;
  FigureGrid* figures_;
  QWidget* detail_;
  Card* held_;
  QPushButton* create_;
  QPushButton* create_key_;
  QPushButton* revoke_;
  QPushButton* delete_;
  QCheckBox* foreign_;
  TenantId wanted_{};  // to be chosen as soon as the snapshot has it
};

}  // namespace larder::gui
