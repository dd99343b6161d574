// SPDX-License-Identifier: GPL-3.0-or-later
// ModelsPage: the model in memory with its ledger, and the files it can be exchanged for.
// Threads: GUI thread.
#pragma once

#include "gui/pages/page.h"

class QLabel;
class QPushButton;
class QTableView;
class QVBoxLayout;

namespace larder::gui {

class EmptyState;
class MemoryLedger;
class ModelCard;
class ModelTable;

class ModelsPage final : public Page {
  Q_OBJECT

 public:
  ModelsPage(const QString& title, PageContext context);
  ~ModelsPage() override;

 protected:
  void showSnapshot(const SnapshotView& view) override;

 private:
  void buildFiles();
  void showCards(const SnapshotView& view);
  void showChoice();
  void load(const QString& path);
  void stop(ModelId id);
  void unload(const ModelInfo& model);
  void perform(ModelId id, const QString& refused, const QString& done);
  bool canAsk() const;
  const ModelInfo* chosen() const;

  ModelTable* files_model_;
  QTableView* files_;
  QLabel* folder_;
  QLabel* cost_;
  QPushButton* load_;
  MemoryLedger* ledger_;
  EmptyState* empty_;
  QVBoxLayout* cards_at_;
  QVector<ModelCard*> cards_;
};

}  // namespace larder::gui
