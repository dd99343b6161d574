// SPDX-License-Identifier: GPL-3.0-or-later
// Closing the window: with and without served programs, with and without a tray, by each value of ui.close.
#include "gui/pages/shell/closing.h"

#include <QDialog>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QtTest>

#include "gui/pages/shell/main_window.h"
#include "gui/pages/shell/tray.h"
#include "tests/gui/support/page_shell.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

class ScriptedTray final : public Tray {
 public:
  bool available() const override { return there; }
  void showIcon(const QString& tip) override { shown = tip; }
  void hideIcon() override { shown.clear(); }

  bool there = true;
  QString shown;  // the tip, while the icon is there
};

}  // namespace

class ClosingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void withoutServedProgramsItJustCloses();
  void attachedWindowJustCloses();
  void keepsServingInTheTrayAndComesBack();
  void stopIsRememberedAndEnds();
  void cancelStaysAndForgets();
  void rememberedAnswerIsNotAskedAgain_data();
  void rememberedAnswerIsNotAskedAgain();
  void withoutATrayOnlyStopOrCancel();
  void refusedSettingIsObeyedAllTheSame();
  void quitAsksNothing();
  void secondCloseAsksNoSecondTime();

 private:
  QDialog* dialog() const { return window_->findChild<QDialog*>(QStringLiteral("closeDialog")); }
  void press(const char* name) {
    auto* button = dialog()->findChild<QPushButton*>(QString::fromLatin1(name));
    QVERIFY(button != nullptr);
    QTest::mouseClick(button, Qt::LeftButton);
  }
  void close() {
    QVERIFY(!window_->close());
    QCoreApplication::processEvents();
  }
  void setRule(const QString& value) {
    SettingRow row;
    row.name = QStringLiteral("ui.close");
    row.value = value;
    client_->settings = {row};
  }
  QString remembered() const {
    if (client_->commands.empty()) return {};
    const auto* set = std::get_if<command::SetSetting>(&client_->commands.back());
    return set == nullptr ? QString() : set->key + QLatin1Char('=') + set->value;
  }

  std::unique_ptr<Theme> theme_;
  std::unique_ptr<ScriptedClient> client_;
  std::unique_ptr<ScriptedTray> tray_;
  std::unique_ptr<MainWindow> window_;
  std::unique_ptr<Closing> closing_;
  std::unique_ptr<QSignalSpy> left_;
};

void ClosingTest::init() {
  theme_ = std::make_unique<Theme>();
  client_ = std::make_unique<ScriptedClient>();
  client_->link(LinkState::kConnected);
  client_->api(QStringLiteral("http://127.0.0.1:4114"), QString());
  client_->next.ok = true;
  tray_ = std::make_unique<ScriptedTray>();
  window_ = std::make_unique<MainWindow>(*theme_, *client_);
  closing_ = std::make_unique<Closing>(*window_, *client_, *theme_, *tray_);
  left_ = std::make_unique<QSignalSpy>(closing_.get(), &Closing::left);
  connect(window_.get(), &MainWindow::quitWanted, closing_.get(), &Closing::leaveNow);
  setRule(QStringLiteral("ask"));
  window_->show();
  QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
  auto view = sampleView();
  view->keys[0].last_used = view->at;
  client_->show(view);
}

void ClosingTest::cleanup() {
  QApplication::setQuitOnLastWindowClosed(true);
  left_.reset();
  closing_.reset();
  window_.reset();
  tray_.reset();
  client_.reset();
  theme_.reset();
}

void ClosingTest::withoutServedProgramsItJustCloses() {
  auto view = sampleView();
  for (KeyInfo& key : view->keys) key.last_used = 0;
  for (TenantInfo& tenant : view->tenants) tenant.requests = 0;
  view->running = view->queued = 0;
  client_->show(view);
  QVERIFY(window_->close());
  QVERIFY(dialog() == nullptr);
  view = std::make_shared<SnapshotView>(*view);
  view->queued = 1;  // an answer is still wanted
  client_->show(view);
  QVERIFY(servesPrograms(*client_));
  client_->api(QString(), QStringLiteral("port taken"));
  QVERIFY(!servesPrograms(*client_));
}

void ClosingTest::attachedWindowJustCloses() {
  client_->beAttached();
  QVERIFY(window_->close());
  QVERIFY(dialog() == nullptr);
}

void ClosingTest::keepsServingInTheTrayAndComesBack() {
  close();
  QVERIFY(dialog() != nullptr && dialog()->isVisible());
  QVERIFY(dialog()->findChild<QLabel*>(QStringLiteral("closeText"))->text().contains(client_->apiUrl()));
  QCOMPARE(dialog()->focusWidget()->objectName(), QStringLiteral("closeTray"));
  keepPicture(*dialog(), QStringLiteral("closing"));
  press("closeTray");
  QCOMPARE(remembered(), QStringLiteral("ui.close=tray"));
  QVERIFY(!window_->isVisible());
  QVERIFY(tray_->shown.contains(client_->apiUrl()));
  QVERIFY(!QApplication::quitOnLastWindowClosed());
  QCOMPARE(left_->count(), 0);
  Q_EMIT tray_->openWanted();
  QVERIFY(window_->isVisible());
  QVERIFY(tray_->shown.isEmpty());
  QVERIFY(QApplication::quitOnLastWindowClosed());
}

void ClosingTest::stopIsRememberedAndEnds() {
  close();
  press("closeStop");
  QCOMPARE(remembered(), QStringLiteral("ui.close=stop"));
  QCOMPARE(left_->count(), 1);
  QVERIFY(!window_->isVisible());
}

void ClosingTest::cancelStaysAndForgets() {
  close();
  press("closeCancel");
  QTRY_VERIFY(dialog() == nullptr);
  QVERIFY(window_->isVisible());
  QVERIFY(client_->commands.empty());
  close();  // nothing was chosen, so it is asked again
  QVERIFY(dialog() != nullptr);
  QTest::keyClick(dialog(), Qt::Key_Escape);
  QTRY_VERIFY(dialog() == nullptr);
  QCOMPARE(left_->count(), 0);
}

void ClosingTest::rememberedAnswerIsNotAskedAgain_data() {
  QTest::addColumn<QString>("rule");
  QTest::addColumn<int>("ends");
  QTest::newRow("tray") << QStringLiteral("tray") << 0;
  QTest::newRow("stop") << QStringLiteral("stop") << 1;
}

void ClosingTest::rememberedAnswerIsNotAskedAgain() {
  QFETCH(QString, rule);
  QFETCH(int, ends);
  setRule(rule);
  close();
  QVERIFY(dialog() == nullptr);
  QVERIFY(!window_->isVisible());
  QCOMPARE(left_->count(), ends);
  QCOMPARE(tray_->shown.isEmpty(), ends == 1);
  if (ends == 0) Q_EMIT tray_->stopWanted();
  QCOMPARE(left_->count(), 1);
  QVERIFY(tray_->shown.isEmpty());
}

void ClosingTest::withoutATrayOnlyStopOrCancel() {
  tray_->there = false;
  setRule(QStringLiteral("tray"));  // remembered on another desktop
  close();
  QVERIFY(dialog() != nullptr);
  QVERIFY(dialog()->findChild<QPushButton*>(QStringLiteral("closeTray")) == nullptr);
  QCOMPARE(dialog()->focusWidget()->objectName(), QStringLiteral("closeCancel"));
  keepPicture(*dialog(), QStringLiteral("closing-no-tray"));
  press("closeStop");
  QVERIFY(client_->commands.empty());
  QCOMPARE(left_->count(), 1);
}

void ClosingTest::refusedSettingIsObeyedAllTheSame() {
  client_->next.ok = false;
  close();
  press("closeTray");
  QVERIFY(!window_->isVisible());
  QVERIFY(!tray_->shown.isEmpty());
}

void ClosingTest::quitAsksNothing() {
  QTest::keyClick(window_.get(), Qt::Key_Q, Qt::ControlModifier);
  QVERIFY(!window_->isVisible());
  QVERIFY(dialog() == nullptr);
  QVERIFY(client_->commands.empty());
}

void ClosingTest::secondCloseAsksNoSecondTime() {
  window_->close();  // the setting is still on its way
  close();
  close();
  QCOMPARE(window_->findChildren<QDialog*>(QStringLiteral("closeDialog")).size(), 1);
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::ClosingTest)
#include "closing_test.moc"
