// SPDX-License-Identifier: GPL-3.0-or-later
// ChatPage: try the engine: a system text or a pack, a prompt, the answer as it comes, and what was reused for it.
// Threads: GUI thread; nothing here waits for the engine.
#pragma once

#include "gui/pages/page.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QStackedWidget;
class QVBoxLayout;

namespace larder::gui {

class Conversation;
class EmptyState;
class PromptEdit;
class TurnCard;

class ChatPage final : public Page {
  Q_OBJECT

 public:
  ChatPage(const QString& title, PageContext context);
  void focusSearch() override;
  void openWith(const QVariant& argument) override;  // the id of a pack

 protected:
  void showSnapshot(const SnapshotView& view) override;
  void themeChanged() override;

 private:
  enum State { kNoModel, kTalk };

  QWidget* buildTalk();
  QWidget* buildSide();
  QWidget* buildLog();
  void showNoModel(const SnapshotView& view);
  void showPacks(const SnapshotView& view);
  void choosePack();
  void send();
  void addTurn();
  void showLastTurn();
  void clearLog();
  void showBusy();

  Conversation* talk_;
  QStackedWidget* states_;
  EmptyState* no_model_;
  QComboBox* pack_ = nullptr;
  PromptEdit* system_ = nullptr;
  QLabel* system_note_ = nullptr;
  QSpinBox* limit_ = nullptr;
  QCheckBox* bypass_ = nullptr;
  QLabel* template_note_ = nullptr;
  QLabel* hint_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  QVBoxLayout* log_ = nullptr;
  PromptEdit* prompt_ = nullptr;
  QPushButton* send_ = nullptr;
  QPushButton* stop_ = nullptr;
  QPushButton* fresh_ = nullptr;
  QVector<TurnCard*> cards_;
  QVector<PackInfo> packs_;
  QString wanted_pack_, first_model_path_;
  bool has_template_ = true;
};

}  // namespace larder::gui
