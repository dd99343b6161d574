// SPDX-License-Identifier: GPL-3.0-or-later
// PageRig: one page over a scripted client, with a shell that keeps what it was told.
// Threads: GUI thread.
#pragma once

#include <memory>

#include "gui/pages/page.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {

class ScriptedShell final : public Shell {
 public:
  void openPage(const QString& id, const QVariant&) override { opened.push_back(id); }
  void showToast(const QString& text, const QString& action, std::function<void()> act) override {
    toasts.push_back(text);
    toast_action = action;
    toast_act = std::move(act);
  }
  void showProblem(const QString& title, const QString& text) override {
    problems.push_back(title + QStringLiteral(" | ") + text);
  }
  void chooseModel() override { ++choices; }
  qint64 rangeMs() const override { return 1'800'000; }

  QVector<QString> opened, toasts, problems;
  QString toast_action;
  std::function<void()> toast_act;
  int choices = 0;
};

// Members in the order in which they must go: the page first.
template <typename Made>
struct PageRig {
  PageRig() {
    client.link(LinkState::kConnected);
    client.next.ok = true;
    page = std::make_unique<Made>(QStringLiteral("Page"), PageContext{theme, client, shell});
    page->resize(1232, 830);
  }

  void show(const SnapshotPtr& view) {
    client.show(view);
    page->show();
    page->refreshNow();
  }

  template <typename Widget>
  Widget* find(const char* name) const {
    return page->template findChild<Widget*>(QString::fromLatin1(name));
  }

  Theme theme;
  ScriptedClient client;
  ScriptedShell shell;
  std::unique_ptr<Made> page;
};

}  // namespace larder::gui
