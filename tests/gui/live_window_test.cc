// SPDX-License-Identifier: GPL-3.0-or-later
// The main window over the real engine on the processor with stories260K: a prompt makes the tree grow, keys pin and
// delete, and the window stays quick while a model loads and eight clients stream.
#include <time.h>

#include <QApplication>
#include <QDialog>
#include <QElapsedTimer>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QtTest>
#include <algorithm>
#include <memory>
#include <vector>

#include "gui/bridge/tree_rows.h"
#include "gui/pages/tree/prefix_tree_view.h"
#include "tests/gui/support/live_engine.h"

namespace larder::gui {
namespace {

constexpr double kFirstPaintMs = 800, kHandlerCpuMs = 16, kHandlerWallMs = 100;
constexpr int kClients = 8;
constexpr int kWatchMs = 4000;

// Instruments slow the GUI thread several times; there the figures are printed, not held against the goals.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHoldGoals = false;
#else
constexpr bool kHoldGoals = true;
#endif

double threadCpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Notes how long each event's handler took on the GUI thread; nested deliveries count with the outermost.
class WatchedApplication final : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    if (!watching || depth_ > 0) return QApplication::notify(receiver, event);
    ++depth_;
    QElapsedTimer wall;
    wall.start();
    const double before = threadCpuMs();
    const bool handled = QApplication::notify(receiver, event);
    cpu_ms.push_back(threadCpuMs() - before);
    wall_ms.push_back(static_cast<double>(wall.nsecsElapsed()) * 1e-6);
    --depth_;
    return handled;
  }

  bool watching = false;
  std::vector<double> cpu_ms, wall_ms;

 private:
  int depth_ = 0;
};

double nearestRank(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

Ask story(const QString& end) {
  Ask ask;
  ask.text = QStringLiteral(
                 "Once upon a time there was a little girl who lived in a house with a big garden. She loved "
                 "to play outside with her dog and her brother every day after lunch. One day ") +
             end;
  ask.max_tokens = 12;
  return ask;
}

}  // namespace

class LiveWindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void firstPaintWithLiveDataIsQuick();
  void aPromptGrowsTheTreeAndTheSecondReuses();
  void keysPinAndDelete();
  void anAnswerArrivesInPiecesAndCanBeCancelled();
  void noHandlerIsSlowWhileAModelLoadsAndClientsStream();

 private:
  LiveEngine& live() { return *live_; }

  std::unique_ptr<LiveEngine> live_;
};

void LiveWindowTest::init() { live_ = std::make_unique<LiveEngine>("larder_live_window_test"); }

void LiveWindowTest::cleanup() { live_.reset(); }

void LiveWindowTest::firstPaintWithLiveDataIsQuick() {
  QVERIFY(live().open(storiesPath()));
  QElapsedTimer timer;
  timer.start();
  MainWindow& window = live().showWindow();
  QVERIFY(QTest::qWaitForWindowExposed(&window));
  QVERIFY(QTest::qWaitFor([this] { return live().view().epoch > 0; }, 5000));
  window.page(QStringLiteral("overview"))->refreshNow();
  const QPixmap painted = window.grab();
  const auto took = static_cast<double>(timer.elapsed());
  QVERIFY(!painted.isNull());
  qInfo("first paint of Overview with live data: %.0f ms (goal %.0f)", took, kFirstPaintMs);
  if (kHoldGoals) QVERIFY(took <= kFirstPaintMs);
}

void LiveWindowTest::aPromptGrowsTheTreeAndTheSecondReuses() {
  QVERIFY(live().open(storiesPath()));
  MainWindow& window = live().showWindow();
  QVERIFY(live().waitForModel());
  QVERIFY(live().view().tree->nodes.isEmpty());
  const AnswerEnd cold = live().ask(story(QStringLiteral("she found")));
  QVERIFY(cold.usage.prompt_tokens > 32);
  QCOMPARE(cold.usage.cached_tokens, 0u);
  QTRY_VERIFY_WITH_TIMEOUT(!live().view().tree->nodes.isEmpty(), 10'000);
  window.openPage(QStringLiteral("tree"));
  auto* tree = window.findChild<PrefixTreeView*>(QStringLiteral("prefixTree"));
  QTRY_VERIFY_WITH_TIMEOUT(tree->icicle().boxes.size() >= 4, 5000);
  const AnswerEnd warm = live().ask(story(QStringLiteral("he lost")));
  QVERIFY(warm.usage.cached_tokens >= 32);
  QTRY_COMPARE_WITH_TIMEOUT(live().view().requests.size(), 2, 10'000);
  const auto& nodes = live().view().tree->nodes;
  std::uint64_t blocks = 0;
  for (const TreeNode& node : nodes) blocks += node.blocks;
  QCOMPARE(live().view().tree->rows[0].all.blocks, blocks);
  QTRY_VERIFY_WITH_TIMEOUT(live().view().requests.back()->usage.cached_tokens >= 32, 5000);
}

void LiveWindowTest::keysPinAndDelete() {
  QVERIFY(live().open(storiesPath()));
  MainWindow& window = live().showWindow();
  QVERIFY(live().waitForModel());
  live().ask(story(QStringLiteral("she found")));
  live().ask(story(QStringLiteral("he lost")));
  QTRY_VERIFY_WITH_TIMEOUT(live().view().tree->nodes.size() >= 2, 10'000);
  window.openPage(QStringLiteral("tree"));
  auto* tree = window.findChild<PrefixTreeView*>(QStringLiteral("prefixTree"));
  tree->setFocus();
  QTRY_VERIFY_WITH_TIMEOUT(tree->icicle().boxes.size() >= 4, 5000);
  QTest::keyClick(tree, Qt::Key_Home);
  for (int i = 0; i < 3; ++i) QTest::keyClick(tree, Qt::Key_Down);
  const auto chosen = [&]() -> const TreeNode* {
    const TreeRows& rows = *live().view().tree;
    const int index = rows.indexOfKey(tree->selected());
    return index < 0 ? nullptr : rows.nodeOf(rows.rows[static_cast<std::size_t>(index)]);
  };
  QVERIFY(chosen() != nullptr);
  QVERIFY(!chosen()->pinned);
  QTest::keyClick(tree, Qt::Key_P);
  QTRY_VERIFY_WITH_TIMEOUT(chosen() != nullptr && chosen()->pinned, 10'000);
  QCOMPARE(live().view().pins.size(), 1);
  QTest::keyClick(tree, Qt::Key_P);
  QTRY_VERIFY_WITH_TIMEOUT(live().view().pins.isEmpty(), 10'000);
  // To disk and back, once everything is durable.
  const auto stored = [&] { return chosen() != nullptr && chosen()->stored_blocks == chosen()->blocks; };
  QTRY_VERIFY_WITH_TIMEOUT(stored(), 20'000);
  for (const int choice : {0, 2}) {
    QTest::keyClick(tree, Qt::Key_M);
    auto* menu = window.findChild<QMenu*>(QStringLiteral("moveMenu"));
    QVERIFY(menu != nullptr);
    QList<QAction*> actions = menu->actions();
    actions.removeIf([](const QAction* action) { return action->isSeparator(); });
    actions.at(choice)->trigger();
    menu->close();
    QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QDialog*>(QStringLiteral("confirmDialog")) != nullptr, 10'000);
    QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("confirmAct")), Qt::LeftButton);
    const bool down = choice == 0;
    QTRY_VERIFY_WITH_TIMEOUT(chosen() != nullptr && (chosen()->disk_blocks == chosen()->blocks) == down, 10'000);
    QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QDialog*>(QStringLiteral("confirmDialog")) == nullptr, 10'000);
  }
  QTest::keyClick(tree, Qt::Key_Delete);
  QTRY_VERIFY_WITH_TIMEOUT(window.findChild<QDialog*>(QStringLiteral("deleteDialog")) != nullptr, 10'000);
  QTest::mouseClick(window.findChild<QPushButton*>(QStringLiteral("deleteConfirm")), Qt::LeftButton);
  QTRY_VERIFY_WITH_TIMEOUT(live().view().tree->nodes.isEmpty(), 10'000);
  QCOMPARE(tree->selected(), std::uint64_t{0});
}

void LiveWindowTest::anAnswerArrivesInPiecesAndCanBeCancelled() {
  QVERIFY(live().open(storiesPath()));
  QVERIFY(live().waitForModel());
  Ask ask = story(QStringLiteral("she"));
  ask.max_tokens = 300;
  AnswerStream* stream = live().client().ask(ask, this);
  QSignalSpy started(stream, &AnswerStream::started);
  QSignalSpy text(stream, &AnswerStream::text);
  QSignalSpy ended(stream, &AnswerStream::finished);
  QVERIFY(text.wait(20'000));
  QCOMPARE(started.count(), 1);
  stream->cancel();
  QVERIFY(ended.count() == 1 || ended.wait(10'000));
  delete stream;
  QTRY_COMPARE_WITH_TIMEOUT(live().view().running, 0u, 10'000);
}

void LiveWindowTest::noHandlerIsSlowWhileAModelLoadsAndClientsStream() {
  auto* app = static_cast<WatchedApplication*>(qApp);
  QVERIFY(live().open(storiesPath()));
  MainWindow& window = live().showWindow();
  QVERIFY(QTest::qWaitForWindowExposed(&window));
  QVERIFY(live().waitForModel());
  for (const PageSpec& spec : window.pages()) window.openPage(spec.id);  // built once, before it is measured
  window.openPage(QStringLiteral("overview"));
  QElapsedTimer settling;
  settling.start();
  QTRY_VERIFY(settling.elapsed() >= 500);

  int asked = 0, answers = 0;
  std::vector<AnswerStream*> streams(kClients, nullptr);
  QElapsedTimer watched;
  std::function<void(int)> ask = [&](int client) {
    delete std::exchange(streams[static_cast<std::size_t>(client)], nullptr);
    if (!app->watching) return;
    Ask next = story(QStringLiteral("number %1 came and").arg(asked++));
    next.max_tokens = 40;
    AnswerStream* stream = live().client().ask(next, this);
    streams[static_cast<std::size_t>(client)] = stream;
    // A refusal while the models change hands is no answer; the client asks again a little later.
    connect(stream, &AnswerStream::failed, this,
            [&, client] { QTimer::singleShot(20, this, [&, client] { ask(client); }); });
    connect(stream, &AnswerStream::finished, this, [&, client] {
      ++answers;
      QTimer::singleShot(0, this, [&, client] { ask(client); });
    });
  };
  app->cpu_ms.clear();
  app->wall_ms.clear();
  app->watching = true;
  watched.start();
  for (int client = 0; client < kClients; ++client) ask(client);
  int loads = 0;
  while (watched.elapsed() < kWatchMs) {
    QTRY_VERIFY(watched.elapsed() >= 700 * (loads + 1));
    live().client().perform(command::LoadModel{QString::fromStdString(storiesPath(loads % 2 == 0))}, this,
                            [](const CommandOutcome&) {});
    window.openPage(++loads % 2 == 0 ? QStringLiteral("overview") : QStringLiteral("tree"));
  }
  app->watching = false;
  for (AnswerStream* stream : streams) delete stream;
  const double cpu = nearestRank(app->cpu_ms, 0.99), wall = nearestRank(app->wall_ms, 1.0);
  qInfo("%d answers, %zu handlers: p99 CPU %.2f ms (goal %.0f), longest CPU %.1f, longest wall %.1f ms (goal %.0f)",
        answers, app->cpu_ms.size(), cpu, kHandlerCpuMs, nearestRank(app->cpu_ms, 1.0), wall, kHandlerWallMs);
  QVERIFY(answers > kClients);
  if (kHoldGoals) {
    QVERIFY(cpu <= kHandlerCpuMs);
    QVERIFY(wall <= kHandlerWallMs);
  }
}

}  // namespace larder::gui

int main(int argc, char** argv) {
  larder::gui::WatchedApplication app(argc, argv);
  larder::gui::LiveWindowTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "live_window_test.moc"
