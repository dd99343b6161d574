// SPDX-License-Identifier: GPL-3.0-or-later
// PageShell: a Shell that keeps what a page asks of its window, for tests of one page.
// Threads: GUI thread.
#pragma once

#include <QApplication>
#include <QDir>
#include <QPair>
#include <QVector>

#include "gui/pages/page.h"

namespace larder::gui {

class PageShell final : public Shell {
 public:
  void openPage(const QString& id, const QVariant& argument = QVariant()) override { opened.push_back({id, argument}); }
  void showToast(const QString& text, const QString& action = QString(), std::function<void()> act = {}) override {
    toast = text;
    toast_action = action;
    undo = std::move(act);
  }
  void showProblem(const QString& title, const QString& text) override {
    problem = title + QStringLiteral(": ") + text;
  }
  void chooseModel() override { ++choices; }
  qint64 rangeMs() const override { return range; }

  QVector<QPair<QString, QVariant>> opened;
  QString toast, toast_action, problem;
  std::function<void()> undo;
  int choices = 0;
  qint64 range = 1'800'000;
};

// Keeps a picture of the widget where LARDER_TEST_PICTURES names a folder, for people to look at.
inline void keepPicture(QWidget& widget, const QString& name) {
  const QString folder = qEnvironmentVariable("LARDER_TEST_PICTURES");
  QApplication::processEvents();  // layouts that wait
  if (!folder.isEmpty()) widget.grab().save(QDir(folder).filePath(name + QStringLiteral(".png")));
}

}  // namespace larder::gui
