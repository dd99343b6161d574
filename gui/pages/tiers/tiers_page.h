// SPDX-License-Identifier: GPL-3.0-or-later
// TiersPage: where cached blocks lie: one card per tier that exists, from the memory that computes down to the disk.
// Threads: GUI thread.
#pragma once

#include "gui/pages/page.h"

namespace larder::gui {

class EmptyState;
class TierCard;

class TiersPage final : public Page {
  Q_OBJECT

 public:
  TiersPage(const QString& title, PageContext context);

 protected:
  void showSnapshot(const SnapshotView& view) override;

 private:
  void showEmpty(bool nothing);

  TierCard* pool_;
  TierCard* ram_;
  TierCard* disk_;
  EmptyState* empty_;
};

}  // namespace larder::gui
