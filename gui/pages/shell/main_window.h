// SPDX-License-Identifier: GPL-3.0-or-later
// MainWindow: navigation, tool strip, banner, the open page with its inspector, status strip. It owns no engine and
// decides nothing: it routes keys, drops and notices. Pages are built when first opened.
// Keys:     Ctrl+1..9 pages, Alt+Left/Right history, Ctrl+F search, Ctrl+K command, Ctrl+B navigation, F4 inspector,
//           F5 refresh, F6 next pane, Ctrl+Z undo, Space pause, Ctrl+Q quit.
// Requires: theme and client outlive the window.    Threads: GUI thread.
#pragma once

#include <QElapsedTimer>
#include <QHash>
#include <QMainWindow>
#include <QVector>

#include "gui/pages/page.h"

class QStackedWidget;

namespace larder::gui {

class Banner;
class Navigation;
class StatusStrip;
class Toast;
class ToolStrip;

class MainWindow final : public QMainWindow, public Shell {
  Q_OBJECT

 public:
  MainWindow(Theme& theme, EngineClient& client, QWidget* parent = nullptr);
  ~MainWindow() override;

  void openPage(const QString& id, const QVariant& argument = QVariant()) override;
  void showToast(const QString& text, const QString& action = QString(), std::function<void()> act = {}) override;
  void showProblem(const QString& title, const QString& text) override;
  void chooseModel() override;
  qint64 rangeMs() const override;

  QString currentPage() const { return current_; }
  Page* page(const QString& id);  // builds it when needed; null: unknown
  const QVector<PageSpec>& pages() const { return specs_; }
  bool undo();

 Q_SIGNALS:
  void quitWanted();  // the window closes next, without a question

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void buildFrame();
  void buildActions();
  QAction* addCommand(const QString& text, const QKeySequence& key, std::function<void()> act);
  void buildMenu();
  void buildCommandField();
  void showView();
  void showLink();
  void showInspector();
  void nextPane();
  void loadFile(const QString& path);
  void refuseFile();  // attached: the engine cannot read it
  void goBack(int by);
  void restyle();

  Theme& theme_;
  EngineClient& client_;
  QVector<PageSpec> specs_;
  QHash<QString, Page*> built_;
  QHash<QString, QAction*> commands_;  // by their text
  QVector<QAction*> command_order_;
  Navigation* navigation_ = nullptr;
  ToolStrip* tools_ = nullptr;
  Banner* banner_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QStackedWidget* inspector_ = nullptr;
  StatusStrip* status_ = nullptr;
  Toast* toast_ = nullptr;
  QString current_;
  QVector<QString> history_;
  qsizetype history_at_ = -1;
  QElapsedTimer badge_shown_;
  bool inspector_wanted_ = true;
  bool navigation_by_hand_ = false;  // the user chose; width no longer decides
  bool problem_of_link_ = false;     // the banner speaks of the connection
};

}  // namespace larder::gui
