// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/picture_run.h"

#include <QApplication>
#include <QDir>
#include <QEventLoop>
#include <QLocale>
#include <QPixmap>
#include <algorithm>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/engine_client.h"
#include "gui/bridge/tree_rows.h"
#include "gui/pages/shell/main_window.h"
#include "gui/theme/theme.h"

namespace larder::gui {
namespace {

constexpr int kSettleMs = 1200;  // charts take their turns once a second
constexpr int kAnswerTokens = 24;

void settle(int ms) {
  QEventLoop loop;
  QTimer::singleShot(ms, &loop, &QEventLoop::quit);
  loop.exec();
}

// The run with most tokens below a root: what a person would look at first.
const TreeNode* largestRun(const TreeRows& tree) {
  const TreeNode* best = nullptr;
  for (const TreeNode& node : tree.nodes) {
    if (best == nullptr || node.tokens > best->tokens) best = &node;
  }
  return best;
}

}  // namespace

PictureRun::PictureRun(MainWindow& window, EngineClient& client, Theme& theme, QString folder)
    : window_(window), client_(client), theme_(theme), folder_(std::move(folder)), deadline_(this) {
  deadline_.setSingleShot(true);
  connect(&deadline_, &QTimer::timeout, this, [this] {
    if (!taking_) take();
  });
}

void PictureRun::start() {
  if (!QDir().mkpath(folder_)) {
    Q_EMIT failed(tr("cannot make the folder %1").arg(folder_));
    return;
  }
  theme_.setMode(Theme::Mode::kLight);
  window_.resize(1440, 900);
  connect(&client_, &EngineClient::viewChanged, this, &PictureRun::whenReady);
  connect(&client_, &EngineClient::linkChanged, this, &PictureRun::whenReady);
  deadline_.start(kDeadlineMs - 14'000);  // the pages themselves take a while
  whenReady();
}

void PictureRun::whenReady() {
  if (asking_ || taking_) return;
  if (client_.attached()) {
    whenAttached();
    return;
  }
  for (const ModelInfo& model : client_.view()->models) {
    if (model.state == ModelInfo::State::kFailed) {
      taking_ = true;
      Q_EMIT failed(model.error);
      return;
    }
  }
  if (readyModel(*client_.view()) == nullptr) return;
  asking_ = true;
  asks_ = prompts();
  askNext();
}

void PictureRun::whenAttached() {
  if (client_.stale()) {
    taking_ = true;
    Q_EMIT failed(QStringLiteral("%1: %2").arg(client_.place(), client_.linkReason()));
  } else if (client_.view()->epoch > 0) {
    asking_ = true;  // nothing is asked of another process's engine
    QTimer::singleShot(kSettleMs, this, &PictureRun::take);
  }
}

QVector<Ask> PictureRun::prompts() const {
  const SnapshotView& view = *client_.view();
  const bool chat = readyModel(view)->has_chat_template;
  const QString shared = tr("The pantry list of the house: flour, rice, beans, oil, salt, honey, tomatoes. ");
  const QString language = QLocale().name().left(2);
  QString pack;
  for (const PackInfo& one : view.packs) {
    if (chat && (pack.isEmpty() || one.language == language)) pack = one.text.left(2400);
  }
  if (pack.isEmpty()) pack = shared.repeated(4);
  const QStringList questions{tr("What can I cook tonight?"), tr("Which of these keeps longest?"),
                              tr("Write a shopping list for Saturday."), tr("How should honey be stored?")};
  QVector<Ask> asks;
  const auto add = [&](const QString& system, const QString& question) {
    Ask ask;
    ask.max_tokens = kAnswerTokens;
    if (chat) {
      ask.messages = {{QStringLiteral("system"), system}, {QStringLiteral("user"), question}};
    } else {
      ask.text = system + question;
    }
    asks.push_back(ask);
  };
  for (const QString& question : questions) add(pack, question);
  add(tr("It is 22:40. ") + pack.left(900), questions[0]);
  add(tr("It is 22:41. ") + pack.left(900), questions[0]);
  add(pack, questions[2] + QLatin1Char(' ') + questions[3]);
  return asks;
}

void PictureRun::askNext() {
  if (taking_) return;
  if (next_ask_ >= asks_.size()) {
    pinFirst();
    return;
  }
  AnswerStream* stream = client_.ask(asks_[next_ask_++], this);
  connect(stream, &AnswerStream::finished, this, [this, stream] {
    stream->deleteLater();
    askNext();
  });
  connect(stream, &AnswerStream::failed, this, [this, stream](const QString& message) {
    stream->deleteLater();
    qWarning("request for the pictures: %s", qPrintable(message));
    askNext();
  });
}

void PictureRun::pinFirst() {
  const TreeNode* node = largestRun(*client_.view()->tree);
  if (node == nullptr) {
    take();
    return;
  }
  client_.perform(command::PinNode{node->id, tr("for the pictures"), 0, false}, this,
                  [this](const CommandOutcome&) { QTimer::singleShot(kSettleMs, this, &PictureRun::take); });
}

void PictureRun::shoot(const QString& name) {
  if (QWidget* focus = QApplication::focusWidget()) focus->clearFocus();  // no frame, no caret
  settle(kSettleMs);
  const QString path = QDir(folder_).filePath(name + QStringLiteral(".png"));
  if (window_.grab().save(path)) ++pictures_;
}

void PictureRun::take() {
  if (taking_) return;
  taking_ = true;
  deadline_.stop();
  const SnapshotPtr kept = client_.view();  // the client publishes newer ones while pages settle
  const SnapshotView& view = *kept;
  int number = 1;
  for (const PageSpec& spec : window_.pages()) {
    QVariant argument;
    if (spec.id == QLatin1String("tree")) {
      if (const TreeNode* node = largestRun(*view.tree)) argument = QVariant::fromValue<quint64>(node->id.value);
    }
    if (spec.id == QLatin1String("requests")) {
      for (const RequestPtr& request : view.requests) {
        if (request->verdict.kind == VerdictKind::kDiverged) argument = QVariant::fromValue<quint64>(request->id.value);
      }
    }
    window_.openPage(spec.id, argument);
    shoot(QStringLiteral("%1-%2").arg(number++, 2, 10, QLatin1Char('0')).arg(spec.id));
  }
  theme_.setMode(Theme::Mode::kDark);
  for (const QString& id : {QStringLiteral("overview"), QStringLiteral("tree")}) {
    window_.openPage(id);
    shoot(QStringLiteral("%1-%2-dark").arg(number++, 2, 10, QLatin1Char('0')).arg(id));
  }
  Q_EMIT finished(pictures_);
}

}  // namespace larder::gui
