// SPDX-License-Identifier: GPL-3.0-or-later
// ModelCard: the model that answers, is on its way in or out, or was refused: figures, progress, reason, verb.
// Threads: GUI thread.
#pragma once

#include "gui/bridge/view.h"
#include "gui/widgets/card.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace larder::gui {

class Chip;
class FigureGrid;

class ModelCard final : public Card {
  Q_OBJECT

 public:
  explicit ModelCard(const Theme& theme, QWidget* parent = nullptr);
  // `verbs`: the engine can be asked now.
  void showModel(const SnapshotView& view, const ModelInfo& model, bool verbs);

 Q_SIGNALS:
  void stopWanted(larder::ModelId id);  // unload, cancel the loading, put a refusal away: by the state
  void retryWanted(const QString& path);

 private:
  void showFigures(const SnapshotView& view, const ModelInfo& model);
  QString reasonText(const SnapshotView& view, const ModelInfo& model) const;

  const Theme& theme_;
  ModelInfo model_;
  QLabel* name_;
  Chip* chip_;
  QPushButton* retry_;
  QPushButton* stop_;
  FigureGrid* figures_;
  QProgressBar* progress_;
  QLabel* reason_;
};

}  // namespace larder::gui
