// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/local_client.h"

#include <QPointer>
#include <QSysInfo>
#include <QThreadPool>
#include <utility>

#include "gui/bridge/convert.h"
#include "gui/bridge/local_stream.h"
#include "gui/bridge/mailbox.h"
#include "gui/bridge/snapshot_feed.h"
#include "runtime/settings/settings.h"

namespace larder::gui {
namespace {

SettingRow toQt(const settings::Settings::Shown& shown) {
  const auto text = [](std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
  };
  SettingRow row;
  row.name = text(shown.row->name);
  row.type = static_cast<SettingRow::Type>(static_cast<std::uint8_t>(shown.row->type));
  row.value = gui::toQt(shown.value);
  row.default_value = text(shown.row->default_value);
  row.unit = text(shown.row->unit);
  row.help = text(shown.row->help);
  row.minimum = shown.row->min;
  row.maximum = shown.row->max;
  if (!shown.row->choices.empty()) {
    for (const QString& one : text(shown.row->choices).split(QLatin1Char('|'))) row.choices.push_back(one);
  }
  row.needs_restart = shown.row->needs_restart;
  row.overridden = shown.overridden;
  row.restart_pending = shown.restart_pending;
  return row;
}

}  // namespace

LocalClient::LocalClient(QObject* parent) : EngineClient(parent), mailbox_(std::make_shared<Mailbox>(this)) {}

LocalClient::~LocalClient() {
  mailbox_->close();
  delete feed_;
}

void LocalClient::setEngine(std::shared_ptr<engine::Engine> engine) {
  engine_ = std::move(engine);
  feed_ = new SnapshotFeed(
      [engine = engine_](std::uint64_t since) { return engine->snapshot(engine->local_admin(), since); }, nullptr);
  connect(feed_, &SnapshotFeed::published, this, [this](const SnapshotPtr& view) { publish(view); });
  feed_->setRate(rate_);
  setLink(LinkState::kConnected, QString());
}

void LocalClient::fail(const QString& reason) { setLink(LinkState::kFailed, reason); }

void LocalClient::setApiState(const QString& url, const QString& error) { setApi(url, error); }

QString LocalClient::place() const { return tr("%1 (this computer)").arg(QSysInfo::machineHostName()); }

void LocalClient::applyRate(int per_second) {
  rate_ = per_second;
  if (feed_ != nullptr) feed_->setRate(per_second);
}

void LocalClient::perform(Command command, QObject* context, Done done) {
  const QPointer<QObject> alive(context);
  if (engine_ == nullptr) {
    CommandOutcome none;
    none.code = QStringLiteral("unavailable");
    none.message = tr("The engine is not running yet.");
    mailbox_->post([alive, done = std::move(done), none] {
      if (alive && done) done(none);
    });
    return;
  }
  engine_->perform(engine_->local_admin(), gui::fromQt(command),
                   [mailbox = mailbox_, alive, done = std::move(done)](Result<engine::VerbResult> result) {
                     mailbox->post([alive, done, result = std::move(result)] {
                       if (alive && done) done(gui::toQt(result));
                     });
                   });
}

AnswerStream* LocalClient::ask(Ask ask, QObject* owner) {
  if (engine_ == nullptr) return new RefusedStream(tr("The engine is not running yet."), owner);
  auto stream = engine_->submit(engine_->local_admin(), gui::fromQt(ask));
  if (!stream.ok()) return new RefusedStream(errorText(stream.error()), owner);
  return new LocalStream(std::move(stream).value(), mailbox_, owner);
}

void LocalClient::fetchSettings(QObject* context, Settings done) {
  QVector<SettingRow> rows;
  if (engine_ != nullptr) {
    for (const auto& shown : engine_->settings().all()) rows.push_back(toQt(shown));
  }
  const QPointer<QObject> alive(context);
  mailbox_->post([alive, done = std::move(done), rows] {
    if (alive && done) done(rows);
  });
}

void LocalClient::countTokens(Ask ask, QObject* context, Count done) {
  const QPointer<QObject> alive(context);
  const auto answer = [mailbox = mailbox_, alive, done = std::move(done)](std::uint32_t tokens, const QString& error) {
    mailbox->post([alive, done, tokens, error] {
      if (alive && done) done(tokens, error);
    });
  };
  if (engine_ == nullptr) {
    answer(0, tr("The engine is not running yet."));
    return;
  }
  QThreadPool::globalInstance()->start([engine = engine_, ask = std::move(ask), answer] {
    const engine::Request request = gui::fromQt(ask);
    if (const auto* chat = std::get_if<engine::ChatPrompt>(&request.prompt)) {
      const auto count = engine->count_chat_tokens(*chat);
      answer(count.ok() ? count.value() : 0, count.ok() ? QString() : errorText(count.error()));
      return;
    }
    const auto tokens = engine->tokenize(std::get<engine::TextPrompt>(request.prompt).text, false);
    answer(tokens.ok() ? static_cast<std::uint32_t>(tokens.value().size()) : 0,
           tokens.ok() ? QString() : errorText(tokens.error()));
  });
}

}  // namespace larder::gui
