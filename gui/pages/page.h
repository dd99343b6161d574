// SPDX-License-Identifier: GPL-3.0-or-later
// Page: one screen of the window: a title row and a body that shows the newest snapshot while it is visible, at most
// every refreshMs. Pages ask the engine through EngineClient and the window through Shell; they know neither runtime
// nor each other.
// To add one: derive, then write one line in page_list.cc.
// Threads: GUI thread.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QVariant>
#include <QWidget>
#include <functional>

#include "gui/bridge/engine_client.h"
#include "gui/theme/theme.h"

class QHBoxLayout;
class QLabel;
class QUndoCommand;
class QVBoxLayout;

namespace larder::gui {

// What a page may ask of the window around it.
class Shell {
 public:
  virtual ~Shell() = default;
  virtual void openPage(const QString& id, const QVariant& argument = QVariant()) = 0;
  // One line for a few seconds, with at most one action ("Undo").
  virtual void showToast(const QString& text, const QString& action = QString(), std::function<void()> act = {}) = 0;
  // A refusal or loss that stays until it is closed; never a modal box.
  virtual void showProblem(const QString& title, const QString& text) = 0;
  virtual void chooseModel() = 0;      // asks for a model file and loads it
  virtual qint64 rangeMs() const = 0;  // the time range of the toolbar
};

struct PageContext {
  Theme& theme;
  EngineClient& client;
  Shell& shell;
};

class Page : public QWidget {
  Q_OBJECT

 public:
  enum class Body { kFixed, kScrolling };

  Page(const QString& title, Body body, PageContext context, QWidget* parent = nullptr);

  QString title() const;
  // What openPage was called with: a filter, an id.
  virtual void openWith(const QVariant& argument);
  virtual void focusSearch() {}
  // Shown at the right of the page while it is open; owned by the page's window.
  virtual QWidget* inspector() { return nullptr; }
  // Shows the newest view now, also when it is not due (tests, pictures, a changed time range).
  void refreshNow();

 protected:
  virtual void showSnapshot(const SnapshotView& view) = 0;
  virtual int refreshMs() const { return 500; }
  // Colours or fonts changed: drop what was drawn with the old ones.
  virtual void themeChanged() {}

  Theme& theme() const { return context_.theme; }
  EngineClient& client() const { return context_.client; }
  Shell& shell() const { return context_.shell; }
  QVBoxLayout* body() const { return body_; }
  QHBoxLayout* titleRow() const { return title_row_; }  // widgets at its right end
  void setSubtitle(const QString& text);

  void showEvent(QShowEvent* event) override;

 private:
  void viewArrived();
  void restyle();

  PageContext context_;
  QLabel* title_;
  QLabel* subtitle_;
  QHBoxLayout* title_row_;
  QVBoxLayout* body_;
  QTimer due_;
  QElapsedTimer shown_;
};

// One line of the list of pages.
struct PageSpec {
  enum class Group { kWatch, kManage, kMachine, kTry, kBottom };
  QString id;    // "overview"
  QString icon;  // resources/icons
  Group group = Group::kWatch;
  bool works_attached = false;  // else it says that it needs the window at the server
  QString title;
  std::function<Page*(PageContext)> make;
};

QVector<PageSpec> pageList();

}  // namespace larder::gui
