// SPDX-License-Identifier: GPL-3.0-or-later
// PacksPage: the instruction sets that come with Larder: text, what they cost, and the verbs that keep them ready.
// Threads: GUI thread.
#pragma once

#include <QHash>

#include "gui/pages/page.h"

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QTableView;

namespace larder::gui {

class Card;
class EmptyState;
class FigureGrid;
class PackModel;

class PacksPage final : public Page {
  Q_OBJECT

 public:
  PacksPage(const QString& title, PageContext context);
  ~PacksPage() override;

  void openWith(const QVariant& argument) override;  // a pack id

 protected:
  void showSnapshot(const SnapshotView& view) override;
  void themeChanged() override;

 private:
  QWidget* buildText();
  QWidget* buildVerbs();
  void showPack();
  void showCost(const SnapshotView& view, const PackInfo& pack);
  void showVerbs(const SnapshotView& view, const PackInfo& pack);
  void warm(bool pin);
  void pinOrUnpin();
  void pin(const QString& id, const QString& name);
  void unpin(const QString& id, const QString& name);
  void asked(const QString& id);
  void answered(const QString& id, bool done);
  const PackInfo* chosen() const;
  const PackInfo* find(const QString& id) const;

  PackModel* packs_model_;
  QTableView* packs_;
  QWidget* parts_;
  EmptyState* empty_;
  Card* text_card_;
  QPlainTextEdit* text_;
  FigureGrid* figures_;
  QLabel* cost_;
  QLabel* state_;
  QProgressBar* progress_;
  QPushButton* warm_;
  QPushButton* pin_;
  QString shown_text_of_;
  QHash<QString, std::uint64_t> waiting_;  // by pack: the epoch from which on what was asked of it shows
};

}  // namespace larder::gui
