// SPDX-License-Identifier: GPL-3.0-or-later
// EngineClient: the one door from the pages to an engine, in this process (LocalClient) or behind the loopback API
// (RemoteClient). Snapshots are pulled and merged on a worker thread and arrive as whole views.
// Ensures:  no method waits for the engine, a file or the network; callbacks and signals arrive on the GUI thread, and
//           a callback is dropped when its context object is gone.
// Threads:  GUI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <QVector>
#include <functional>

#include "gui/bridge/command.h"
#include "gui/bridge/view.h"

namespace larder::gui {

class AnswerStream;

// kLost: it answered before. kFailed: it never did. kRefused: it answers, but not this window.
enum class LinkState { kConnecting, kConnected, kLost, kFailed, kRefused };

class EngineClient : public QObject {
  Q_OBJECT

 public:
  using Done = std::function<void(const CommandOutcome&)>;
  using Settings = std::function<void(const QVector<SettingRow>&)>;
  using Count = std::function<void(std::uint32_t tokens, const QString& error)>;

  explicit EngineClient(QObject* parent = nullptr);
  ~EngineClient() override;

  // Never null: an empty view before the first snapshot (epoch 0).
  SnapshotPtr view() const { return view_; }
  LinkState linkState() const { return state_; }
  QString linkReason() const { return reason_; }  // sentences, when lost, failed or refused
  // What is shown may no longer be so.
  bool stale() const { return state_ != LinkState::kConnecting && state_ != LinkState::kConnected; }
  bool paused() const { return paused_; }
  // Rate at which snapshots are pulled; 0 pulls none (hidden window). 4..10 while visible.
  void setRate(int per_second);
  void setPaused(bool paused);

  virtual bool attached() const = 0;  // true: the engine is in another process
  virtual QString place() const = 0;  // "casa (this computer)", "soffitta:8080"
  // Where other programs reach this engine, or why they cannot; both empty while it is not known.
  QString apiUrl() const { return api_url_; }
  QString apiError() const { return api_error_; }

  virtual void perform(Command command, QObject* context, Done done) = 0;
  // The stream belongs to `owner`; a refusal arrives as its failed() signal.
  virtual AnswerStream* ask(Ask ask, QObject* owner) = 0;
  virtual void fetchSettings(QObject* context, Settings done) = 0;
  virtual void countTokens(Ask ask, QObject* context, Count done) = 0;
  virtual void retryNow() {}

 Q_SIGNALS:
  void viewChanged(const larder::gui::SnapshotPtr& view);
  void linkChanged();
  void apiChanged();
  void pausedChanged(bool paused);

 protected:
  void publish(SnapshotPtr view);
  void setLink(LinkState state, const QString& reason);
  void setApi(const QString& url, const QString& error);
  virtual void applyRate(int per_second) = 0;

 private:
  SnapshotPtr view_;
  LinkState state_ = LinkState::kConnecting;
  QString reason_, api_url_, api_error_;
  int rate_ = 5;
  bool paused_ = false;
};

}  // namespace larder::gui
