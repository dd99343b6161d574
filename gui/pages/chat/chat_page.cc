// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/pages/chat/chat_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "gui/pages/chat/conversation.h"
#include "gui/pages/chat/prompt_edit.h"
#include "gui/pages/chat/turn_card.h"
#include "gui/theme/numbers.h"
#include "gui/widgets/card.h"
#include "gui/widgets/empty_state.h"

namespace larder::gui {
namespace {

constexpr int kSide = 300;
constexpr int kAnswer = 256;

}  // namespace

ChatPage::ChatPage(const QString& title, PageContext context)
    : Page(title, Body::kFixed, context),
      talk_(new Conversation(context.client, this)),
      states_(new QStackedWidget),
      no_model_(new EmptyState(context.theme, EmptyState::Outline::kNone)) {
  fresh_ = new QPushButton(tr("&New conversation"));
  fresh_->setObjectName(QStringLiteral("newConversation"));
  titleRow()->addWidget(fresh_);
  states_->addWidget(no_model_);
  states_->addWidget(buildTalk());
  body()->addWidget(states_, 1);
  connect(fresh_, &QPushButton::clicked, talk_, &Conversation::clear);
  connect(talk_, &Conversation::turnAdded, this, &ChatPage::addTurn);
  connect(talk_, &Conversation::turnChanged, this, &ChatPage::showLastTurn);
  connect(talk_, &Conversation::cleared, this, &ChatPage::clearLog);
  connect(no_model_, &EmptyState::primaryWanted, this, [this] {
    if (first_model_path_.isEmpty()) {
      shell().chooseModel();
      return;
    }
    client().perform(command::LoadModel{first_model_path_}, this, [this](const CommandOutcome& outcome) {
      if (!outcome.ok) shell().showProblem(tr("The model was not loaded"), outcome.message);
    });
  });
  connect(no_model_, &EmptyState::secondWanted, this, [this] { shell().chooseModel(); });
  clearLog();
  themeChanged();
}

QWidget* ChatPage::buildTalk() {
  auto* holder = new QWidget;
  auto* row = new QHBoxLayout(holder);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(theme().metrics().gap);
  row->addWidget(buildLog(), 1);
  row->addWidget(buildSide());
  return holder;
}

QWidget* ChatPage::buildLog() {
  auto* holder = new QWidget;
  auto* column = new QVBoxLayout(holder);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  template_note_ = new QLabel;
  template_note_->setObjectName(QStringLiteral("templateNote"));
  template_note_->setWordWrap(true);
  template_note_->hide();
  column->addWidget(template_note_);
  auto* inside = new QWidget;
  inside->setObjectName(QStringLiteral("chatLog"));
  log_ = new QVBoxLayout(inside);
  log_->setContentsMargins(0, 0, 0, 0);
  log_->setSpacing(8);
  hint_ =
      new QLabel(tr("Write a prompt below. Ask a second time and watch how much of it is reused: every turn sends "
                    "the whole conversation again, and only what is new has to be read."));
  hint_->setWordWrap(true);
  hint_->setAlignment(Qt::AlignHCenter | Qt::AlignVCenter);
  hint_->setContentsMargins(40, 40, 40, 40);
  log_->addWidget(hint_);
  log_->addStretch(1);
  scroll_ = new QScrollArea;
  scroll_->setObjectName(QStringLiteral("chatScroll"));
  scroll_->setAccessibleName(tr("Conversation"));
  scroll_->setWidgetResizable(true);
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setStyleSheet(
      QStringLiteral("QScrollArea, QScrollArea > QWidget > QWidget#chatLog { background: transparent; border: 0; }"));
  scroll_->setWidget(inside);
  column->addWidget(scroll_, 1);
  prompt_ = new PromptEdit(tr("Your prompt. Enter sends, Shift+Enter starts a new line."));
  prompt_->setObjectName(QStringLiteral("prompt"));
  prompt_->setFixedHeight(84);
  column->addWidget(prompt_);
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  stop_ = new QPushButton(tr("S&top"));
  stop_->setObjectName(QStringLiteral("stop"));
  row->addWidget(stop_);
  send_ = new QPushButton(tr("&Send"));
  send_->setObjectName(QStringLiteral("send"));
  send_->setProperty("role", QStringLiteral("primary"));
  row->addWidget(send_);
  column->addLayout(row);
  connect(prompt_, &PromptEdit::sendWanted, this, &ChatPage::send);
  connect(prompt_, &QPlainTextEdit::textChanged, this, &ChatPage::showBusy);
  connect(send_, &QPushButton::clicked, this, &ChatPage::send);
  connect(stop_, &QPushButton::clicked, talk_, &Conversation::stop);
  // New text at the end stays in sight while the end is in sight.
  QScrollBar* bar = scroll_->verticalScrollBar();
  connect(bar, &QScrollBar::rangeChanged, this, [bar](int, int end) {
    if (bar->property("atEnd").toBool()) bar->setValue(end);
  });
  connect(bar, &QScrollBar::valueChanged, this,
          [bar](int value) { bar->setProperty("atEnd", value >= bar->maximum() - 24); });
  bar->setProperty("atEnd", true);
  return holder;
}

QWidget* ChatPage::buildSide() {
  auto* card = new Card(theme(), tr("Before the conversation"));
  card->setFixedWidth(kSide);
  auto* pack_name = new QLabel(tr("&Pack"));
  pack_ = new QComboBox;
  pack_->setObjectName(QStringLiteral("packChoice"));
  pack_->setAccessibleName(tr("Pack"));
  pack_->setMinimumContentsLength(12);
  pack_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  pack_->addItem(tr("None, my own text"), QString());
  pack_name->setBuddy(pack_);
  card->body()->addWidget(pack_name);
  card->body()->addWidget(pack_);
  auto* system_name = new QLabel(tr("System te&xt"));
  system_ = new PromptEdit(tr("Optional: what the model is told first"));
  system_->setObjectName(QStringLiteral("systemText"));
  system_->setAccessibleName(tr("System text"));
  system_name->setBuddy(system_);
  card->body()->addWidget(system_name);
  card->body()->addWidget(system_, 1);
  system_note_ =
      new QLabel(tr("Changing it in the middle of a conversation makes the whole prompt another one: "
                    "nothing after the change can be reused."));
  system_note_->setWordWrap(true);
  card->body()->addWidget(system_note_);
  auto* row = new QHBoxLayout;
  auto* limit_name = new QLabel(tr("&Longest answer"));
  limit_ = new QSpinBox;
  limit_->setRange(1, 4096);
  limit_->setValue(kAnswer);
  limit_->setSuffix(tr(" tokens"));
  limit_->setButtonSymbols(QAbstractSpinBox::NoButtons);
  limit_->setMinimumHeight(theme().metrics().control);
  limit_->setAccessibleName(tr("Longest answer in tokens"));
  limit_->findChild<QLineEdit*>()->setAccessibleName(limit_->accessibleName());
  limit_name->setBuddy(limit_);
  row->addWidget(limit_name);
  row->addStretch(1);
  row->addWidget(limit_);
  card->body()->addLayout(row);
  bypass_ = new QCheckBox(tr("&Reuse nothing (to compare)"));
  bypass_->setObjectName(QStringLiteral("bypass"));
  card->body()->addWidget(bypass_);
  connect(pack_, &QComboBox::currentIndexChanged, this, &ChatPage::choosePack);
  connect(system_, &PromptEdit::sendWanted, system_, [this] { system_->insertPlainText(QStringLiteral("\n")); });
  return card;
}

void ChatPage::focusSearch() { prompt_->setFocus(); }

void ChatPage::openWith(const QVariant& argument) {
  wanted_pack_ = argument.toString();
  showPacks(*client().view());
}

void ChatPage::showSnapshot(const SnapshotView& view) {
  const ModelInfo* model = readyModel(view);
  // A conversation stays in sight when its model goes; the next question then says why it cannot be answered.
  const bool talk = model != nullptr || !talk_->turns().isEmpty();
  states_->setCurrentIndex(talk ? kTalk : kNoModel);
  fresh_->setVisible(talk);
  if (!talk) showNoModel(view);
  setSubtitle(model != nullptr ? tr("with %1").arg(model->name) : tr("no model loaded"));
  showPacks(view);
  has_template_ = model == nullptr || model->has_chat_template;
  template_note_->setVisible(!has_template_);
  if (!has_template_) {
    template_note_->setText(tr("%1 has no chat template: it continues plain text. Write how a text begins, and it goes "
                               "on from there. For questions and answers load an instruct model on the Models page.")
                                .arg(model->name));
  }
  showBusy();
}

void ChatPage::showNoModel(const SnapshotView& view) {
  first_model_path_.clear();
  QString name;
  for (const ModelInfo& model : view.models) {
    if (model.state == ModelInfo::State::kLoading) {
      no_model_->setText(tr("Loading %1").arg(model.name), tr("%1 read").arg(percentText(model.progress, 1)));
      no_model_->setActions(QString());
      return;
    }
    if (model.state != ModelInfo::State::kFile || !first_model_path_.isEmpty()) continue;
    first_model_path_ = model.path;
    name = model.name;
  }
  no_model_->setText(tr("No model to talk to"),
                     tr("Load a model; then write a prompt here and watch how much of it is reused."));
  const bool none = first_model_path_.isEmpty();
  no_model_->setActions(none ? tr("Choose a model\u2026") : tr("Load %1").arg(name),
                        none ? QString() : tr("Choose another\u2026"));
}

void ChatPage::showPacks(const SnapshotView& view) {
  if (view.packs != packs_) {
    packs_ = view.packs;
    const QString chosen = pack_->currentData().toString();
    const QSignalBlocker quiet(pack_);
    while (pack_->count() > 1) pack_->removeItem(pack_->count() - 1);
    for (const PackInfo& pack : std::as_const(packs_)) {
      const QString tokens = pack.tokens > 0 ? tr("%1 tokens").arg(countText(pack.tokens)) : tr("not counted");
      pack_->addItem(tr("%1 (%2), %3").arg(pack.name, pack.language, tokens), pack.id);
    }
    pack_->setCurrentIndex(std::max(0, pack_->findData(chosen)));
  }
  if (wanted_pack_.isEmpty()) return;
  const int at = pack_->findData(wanted_pack_);
  if (at < 0) return;
  wanted_pack_.clear();
  pack_->setCurrentIndex(at);
}

void ChatPage::choosePack() {
  const QString id = pack_->currentData().toString();
  system_->setReadOnly(!id.isEmpty());
  if (id.isEmpty()) {
    system_->clear();
    return;
  }
  for (const PackInfo& pack : std::as_const(packs_)) {
    if (pack.id == id) system_->setPlainText(pack.text);
  }
}

void ChatPage::send() {
  QString text = prompt_->toPlainText();
  if (has_template_) text = text.trimmed();
  if (text.trimmed().isEmpty() || talk_->busy()) return;
  if (text.size() + system_->toPlainText().size() > PromptEdit::kMaxLetters) {
    shell().showProblem(
        tr("The prompt is too long"),
        tr("It has %1 letters; this page sends at most %2. Use the API for longer ones.")
            .arg(countText(static_cast<std::uint64_t>(text.size())), countText(PromptEdit::kMaxLetters)));
    return;
  }
  AskOptions options;
  options.system = system_->toPlainText();
  options.template_ = has_template_;
  options.max_tokens = static_cast<std::uint32_t>(limit_->value());
  options.bypass_cache = bypass_->isChecked();
  prompt_->clear();
  scroll_->verticalScrollBar()->setProperty("atEnd", true);
  talk_->ask(text, options);
}

void ChatPage::addTurn() {
  hint_->hide();
  auto* card = new TurnCard(theme());
  cards_.push_back(card);
  log_->insertWidget(log_->count() - 1, card);
  connect(card, &TurnCard::whyWanted, this,
          [this](quint64 id) { shell().openPage(QStringLiteral("requests"), QVariant::fromValue(id)); });
  showLastTurn();
}

void ChatPage::showLastTurn() {
  cards_.last()->showTurn(talk_->turns().last());
  showBusy();
}

void ChatPage::clearLog() {
  for (TurnCard* card : std::as_const(cards_)) delete card;
  cards_.clear();
  hint_->show();
  showBusy();
}

void ChatPage::showBusy() {
  const bool ready = readyModel(*client().view()) != nullptr;
  stop_->setEnabled(talk_->busy());
  send_->setEnabled(ready && !talk_->busy() && !prompt_->document()->isEmpty());
  fresh_->setEnabled(!talk_->turns().isEmpty());
}

void ChatPage::themeChanged() {
  prompt_->setFont(theme().font(TextSize::kBody));
  system_->setFont(theme().font(TextSize::kSmall));
  for (QLabel* label : {hint_, system_note_, template_note_}) {
    label->setFont(theme().font(label == hint_ ? TextSize::kBody : TextSize::kSmall));
    QPalette muted = label->palette();
    muted.setColor(QPalette::WindowText,
                   theme().color(label == template_note_ ? Tone::kWarning : Tone::kTextSecondary));
    label->setPalette(muted);
  }
}

}  // namespace larder::gui
