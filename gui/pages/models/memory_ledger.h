// SPDX-License-Identifier: GPL-3.0-or-later
// MemoryLedger: what the loaded model holds of this computer's memory, as a bar and the same numbers below it.
// Ensures:  the parts add up to the total: weights, then the pool as blocks in use, kept and free.
// Threads:  GUI thread.
#pragma once

#include <QVector>

#include "gui/bridge/view.h"
#include "gui/theme/theme.h"
#include "gui/widgets/card.h"

namespace larder::gui {

class FigureGrid;

struct LedgerPart {
  enum class Kind : std::uint8_t { kWeights, kInUse, kPinned, kKept, kFree };
  Kind kind = Kind::kWeights;
  std::uint64_t bytes = 0;
  bool operator==(const LedgerPart&) const = default;
};

// Empty without a model that holds memory; parts of no bytes are left out except weights and the free blocks.
QVector<LedgerPart> ledgerParts(const SnapshotView& view);
std::uint64_t ledgerTotal(const QVector<LedgerPart>& parts);

class LedgerBar final : public QWidget {
  Q_OBJECT

 public:
  explicit LedgerBar(const Theme& theme, QWidget* parent = nullptr);
  void setParts(QVector<LedgerPart> parts, Tier tier);
  QSize sizeHint() const override { return QSize(400, 26); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  const Theme& theme_;
  QVector<LedgerPart> parts_;
  Tier tier_ = Tier::kHost;
};

class MemoryLedger final : public Card {
  Q_OBJECT

 public:
  explicit MemoryLedger(const Theme& theme, QWidget* parent = nullptr);
  void showView(const SnapshotView& view);

 private:
  LedgerBar* bar_;
  FigureGrid* figures_;
  QLabel* note_;
};

}  // namespace larder::gui
