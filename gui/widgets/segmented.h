// SPDX-License-Identifier: GPL-3.0-or-later
// Segmented: a few choices side by side, exactly one of them on. Arrow keys move between them.
// Threads: GUI thread.
#pragma once

#include <QStringList>
#include <QWidget>

class QButtonGroup;

namespace larder::gui {

class Segmented final : public QWidget {
  Q_OBJECT

 public:
  Segmented(const QString& name, const QStringList& choices, QWidget* parent = nullptr);
  int current() const;
  void setCurrent(int index);  // does not emit

 Q_SIGNALS:
  void chosen(int index);

 private:
  QButtonGroup* group_;
};

}  // namespace larder::gui
