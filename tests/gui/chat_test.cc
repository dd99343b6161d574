// SPDX-License-Identifier: GPL-3.0-or-later
// The Chat page over a scripted client: turns, reuse figures, stop, refusals, states without a model or a template.
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QtTest>

#include "gui/pages/chat/chat_page.h"
#include "gui/pages/chat/prompt_edit.h"
#include "gui/pages/chat/turn_card.h"
#include "gui/widgets/empty_state.h"
#include "tests/gui/support/page_shell.h"
#include "tests/gui/support/scripted_client.h"

namespace larder::gui {
namespace {

AnswerStart startOf(std::uint64_t id, VerdictKind kind, std::uint32_t reused, std::uint32_t prompt) {
  AnswerStart start;
  start.request = RequestId{id};
  start.verdict.kind = kind;
  start.verdict.prompt_tokens = prompt;
  start.verdict.reused_tokens = reused;
  start.verdict.computed_tokens = prompt - reused;
  start.verdict.tier = QStringLiteral("host");
  return start;
}

AnswerEnd endOf(const AnswerStart& start) {
  AnswerEnd end;
  end.verdict = start.verdict;
  end.verdict.saved_ms = start.verdict.reused_tokens;
  end.usage = {start.verdict.prompt_tokens, start.verdict.reused_tokens, 12};
  end.timings.first_token_ms = 76;
  end.timings.decode_tokens_per_s = 41;
  return end;
}

std::shared_ptr<SnapshotView> chatView() {
  auto view = sampleView(10, 0);
  PackInfo pack;
  pack.id = QStringLiteral("casa-it");
  pack.name = QStringLiteral("Casa");
  pack.language = QStringLiteral("it");
  pack.text = QStringLiteral("Rispondi in italiano.");
  pack.tokens = 2080;
  view->packs = {pack};
  return view;
}

}  // namespace

class ChatTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void cleanup();
  void enterSendsAndTheAnswerStreams();
  void secondTurnSendsTheWholeConversation();
  void figuresSayWhatTheyAreMadeOf();
  void stopCancelsAndKeepsWhatCame();
  void refusalStandsInTheConversation();
  void packFillsTheSystemText();
  void newConversationCancelsTheAnswer();
  void whyOpensTheRequest();
  void withoutAModelThePageSaysWhatToDo();
  void withoutATemplateTextIsContinued();
  void emptyPromptIsNotSent();
  void picturesInBothThemes();

 private:
  void say(const QString& text) {
    prompt()->setPlainText(text);
    QTest::keyClick(prompt(), Qt::Key_Return);
  }
  void answer(std::uint64_t id, VerdictKind kind, std::uint32_t reused, std::uint32_t tokens, const QString& text) {
    const AnswerStart start = startOf(id, kind, reused, tokens);
    client_->stream->start(start);
    client_->stream->write(text);
    client_->stream->finish(endOf(start));
  }
  PromptEdit* prompt() const { return page_->findChild<PromptEdit*>(QStringLiteral("prompt")); }
  QPushButton* button(const char* name) const { return page_->findChild<QPushButton*>(QString::fromLatin1(name)); }
  QString lastText(const char* name) const {
    const auto cards = page_->findChildren<TurnCard*>();
    return cards.isEmpty() ? QString() : cards.last()->findChild<QLabel*>(QString::fromLatin1(name))->text();
  }

  std::unique_ptr<Theme> theme_;
  std::unique_ptr<ScriptedClient> client_;
  std::unique_ptr<PageShell> shell_;
  std::unique_ptr<ChatPage> page_;
};

void ChatTest::init() {
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  theme_ = std::make_unique<Theme>();
  theme_->setMode(Theme::Mode::kLight);
  client_ = std::make_unique<ScriptedClient>();
  client_->link(LinkState::kConnected);
  client_->answering = true;
  shell_ = std::make_unique<PageShell>();
  page_ = std::make_unique<ChatPage>(QStringLiteral("Chat"), PageContext{*theme_, *client_, *shell_});
  page_->resize(1264, 780);
  page_->show();
  QVERIFY(QTest::qWaitForWindowExposed(page_.get()));
  client_->show(chatView());
  page_->refreshNow();
}

void ChatTest::cleanup() {
  page_.reset();
  client_.reset();
  theme_.reset();
}

void ChatTest::enterSendsAndTheAnswerStreams() {
  say(QStringLiteral("Hello"));
  QCOMPARE(client_->asks.size(), std::size_t{1});
  QCOMPARE(client_->asks[0].messages.size(), 1);
  QCOMPARE(client_->asks[0].messages[0].content, QStringLiteral("Hello"));
  QCOMPARE(client_->asks[0].max_tokens, 256u);
  QVERIFY(prompt()->toPlainText().isEmpty());
  QVERIFY(button("stop")->isEnabled());
  client_->stream->start(startOf(1, VerdictKind::kCold, 0, 20));
  client_->stream->write(QStringLiteral("Good "));
  QCOMPARE(lastText("answer"), QStringLiteral("Good "));
  client_->stream->write(QStringLiteral("morning"));
  QCOMPARE(lastText("answer"), QStringLiteral("Good morning"));
  say(QStringLiteral("too early"));
  QCOMPARE(client_->asks.size(), std::size_t{1});
  QCOMPARE(prompt()->toPlainText(), QStringLiteral("too early"));
}

void ChatTest::secondTurnSendsTheWholeConversation() {
  page_->findChild<PromptEdit*>(QStringLiteral("systemText"))->setPlainText(QStringLiteral("Be short."));
  say(QStringLiteral("One"));
  answer(1, VerdictKind::kCold, 0, 20, QStringLiteral("1"));
  say(QStringLiteral("Two"));
  const auto& messages = client_->asks.at(1).messages;
  QCOMPARE(messages.size(), 4);
  QCOMPARE(messages[0].role, QStringLiteral("system"));
  QCOMPARE(messages[2].role, QStringLiteral("assistant"));
  QCOMPARE(messages[2].content, QStringLiteral("1"));
  QCOMPARE(messages[3].content, QStringLiteral("Two"));
}

void ChatTest::figuresSayWhatTheyAreMadeOf() {
  say(QStringLiteral("One"));
  answer(1, VerdictKind::kFullPrefix, 1180, 1204, QStringLiteral("1"));
  QCOMPARE(lastText("figures"),
           QStringLiteral("1,180 of 1,204 prompt tokens reused \u00b7 tier Host \u00b7 first token "
                          "after 76.0\u00a0ms \u00b7 12 tokens at 41.0\u00a0tok/s \u00b7 saved 1.18\u00a0s"));
}

void ChatTest::stopCancelsAndKeepsWhatCame() {
  say(QStringLiteral("One"));
  const AnswerStart start = startOf(1, VerdictKind::kCold, 0, 20);
  client_->stream->start(start);
  client_->stream->write(QStringLiteral("half"));
  const QPointer<ScriptedStream> stream = client_->stream;
  QTest::mouseClick(button("stop"), Qt::LeftButton);
  QCOMPARE(stream->cancels, 1);
  AnswerEnd end = endOf(start);
  end.cancelled = true;
  client_->stream->finish(end);
  QCOMPARE(lastText("answer"), QStringLiteral("half"));
  QVERIFY(lastText("figures").endsWith(QStringLiteral("stopped")));
  QVERIFY(!button("stop")->isEnabled());
  say(QStringLiteral("on"));
  QCOMPARE(client_->asks.at(1).messages.size(), 3);
}

void ChatTest::refusalStandsInTheConversation() {
  say(QStringLiteral("One"));
  client_->stream->fail(QStringLiteral("The queue is full: 256 requests wait."));
  QCOMPARE(lastText("answerError"), QStringLiteral("The queue is full: 256 requests wait."));
  QVERIFY(!button("stop")->isEnabled());
  say(QStringLiteral("again"));
  QCOMPARE(client_->asks.at(1).messages.size(), 1);
}

void ChatTest::packFillsTheSystemText() {
  auto* packs = page_->findChild<QComboBox*>(QStringLiteral("packChoice"));
  QCOMPARE(packs->count(), 2);
  QVERIFY(packs->itemText(1).contains(QStringLiteral("2,080 tokens")));
  packs->setCurrentIndex(1);
  auto* system = page_->findChild<PromptEdit*>(QStringLiteral("systemText"));
  QCOMPARE(system->toPlainText(), QStringLiteral("Rispondi in italiano."));
  QVERIFY(system->isReadOnly());
  say(QStringLiteral("Ciao"));
  QCOMPARE(client_->asks.at(0).messages.at(0).content, QStringLiteral("Rispondi in italiano."));
}

void ChatTest::newConversationCancelsTheAnswer() {
  say(QStringLiteral("One"));
  QVERIFY(!client_->stream.isNull());
  QTest::mouseClick(button("newConversation"), Qt::LeftButton);
  QVERIFY(client_->stream.isNull());
  QCOMPARE(page_->findChildren<TurnCard*>().size(), 0);
  say(QStringLiteral("Fresh"));
  QCOMPARE(client_->asks.at(1).messages.size(), 1);
}

void ChatTest::whyOpensTheRequest() {
  say(QStringLiteral("One"));
  answer(5127, VerdictKind::kDiverged, 10, 20, QStringLiteral("1"));
  QTest::mouseClick(page_->findChild<TurnCard*>()->findChild<QPushButton*>(), Qt::LeftButton);
  QCOMPARE(shell_->opened.at(0).first, QStringLiteral("requests"));
  QCOMPARE(shell_->opened.at(0).second.toULongLong(), 5127ull);
}

void ChatTest::withoutAModelThePageSaysWhatToDo() {
  auto view = chatView();
  view->models[0].state = ModelInfo::State::kFile;
  client_->show(view);
  page_->refreshNow();
  auto* state = page_->findChild<EmptyState*>();
  QVERIFY(state->isVisible());
  keepPicture(*page_, QStringLiteral("chat-empty"));
  auto* load = state->findChild<QPushButton*>(QStringLiteral("emptyPrimary"));
  QVERIFY(load->text().contains(QStringLiteral("SmolLM2")));
  client_->next.ok = false;
  client_->next.message = QStringLiteral("not enough memory");
  QTest::mouseClick(load, Qt::LeftButton);
  QVERIFY(std::holds_alternative<command::LoadModel>(client_->commands.at(0)));
  QVERIFY(shell_->problem.contains(QStringLiteral("not enough memory")));
}

void ChatTest::withoutATemplateTextIsContinued() {
  auto view = chatView();
  view->models[0].has_chat_template = false;
  client_->show(view);
  page_->refreshNow();
  QVERIFY(page_->findChild<QLabel*>(QStringLiteral("templateNote"))->isVisible());
  say(QStringLiteral("Once upon a time"));
  QVERIFY(client_->asks.at(0).messages.isEmpty());
  QCOMPARE(client_->asks.at(0).text, QStringLiteral("Once upon a time"));
  answer(1, VerdictKind::kCold, 0, 5, QStringLiteral(" there was"));
  say(QStringLiteral(" a girl"));
  QCOMPARE(client_->asks.at(1).text, QStringLiteral("Once upon a time there was a girl"));
}

void ChatTest::emptyPromptIsNotSent() {
  say(QStringLiteral("   \n "));
  QVERIFY(client_->asks.empty());
  prompt()->clear();
  QVERIFY(!button("send")->isEnabled());
}

void ChatTest::picturesInBothThemes() {
  page_->findChild<QComboBox*>(QStringLiteral("packChoice"))->setCurrentIndex(1);
  say(QStringLiteral("What can I cook with rice, beans and tomatoes?"));
  answer(1, VerdictKind::kCold, 0, 2112,
         QStringLiteral("Rice and beans in tomato sauce: fry an onion, add the tomatoes and the beans, let them simmer "
                        "for ten minutes and serve them on the rice."));
  say(QStringLiteral("And without the beans?"));
  answer(2, VerdictKind::kFullPrefix, 2148, 2169, QStringLiteral("A tomato risotto."));
  for (const auto mode : {Theme::Mode::kLight, Theme::Mode::kDark}) {
    theme_->setMode(mode);
    QVERIFY(!page_->grab().isNull());
    keepPicture(*page_, mode == Theme::Mode::kDark ? QStringLiteral("chat-dark") : QStringLiteral("chat-light"));
  }
}

}  // namespace larder::gui

QTEST_MAIN(larder::gui::ChatTest)
#include "chat_test.moc"
