// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/bridge/engine_client.h"

#include <utility>

#include "gui/bridge/tree_rows.h"

namespace larder::gui {

EngineClient::EngineClient(QObject* parent) : QObject(parent) {
  qRegisterMetaType<SnapshotPtr>();
  auto empty = std::make_shared<SnapshotView>();
  empty->tree = buildTreeRows({});
  view_ = std::move(empty);
}

EngineClient::~EngineClient() = default;

void EngineClient::setRate(int per_second) {
  rate_ = per_second;
  applyRate(paused_ ? 0 : rate_);
}

void EngineClient::setPaused(bool paused) {
  if (paused == paused_) return;
  paused_ = paused;
  applyRate(paused_ ? 0 : rate_);
  Q_EMIT pausedChanged(paused_);
}

void EngineClient::publish(SnapshotPtr view) {
  view_ = std::move(view);
  Q_EMIT viewChanged(view_);
}

void EngineClient::setLink(LinkState state, const QString& reason) {
  if (state == state_ && reason == reason_) return;
  state_ = state;
  reason_ = reason;
  Q_EMIT linkChanged();
}

void EngineClient::setApi(const QString& url, const QString& error) {
  if (url == api_url_ && error == api_error_) return;
  api_url_ = url;
  api_error_ = error;
  Q_EMIT apiChanged();
}

}  // namespace larder::gui
