// SPDX-License-Identifier: GPL-3.0-or-later
// LiveEngine: the real engine on the processor in a folder of its own, with the client and, when asked for, the window
// over it. Threads: GUI thread.
#pragma once

#include <memory>
#include <string>

#include "gui/bridge/answer_stream.h"
#include "gui/bridge/local_client.h"
#include "gui/pages/shell/main_window.h"

namespace larder::test {
class FakeDeviceKnobs;
}

namespace larder::gui {

std::string storiesPath(bool half = false);
// stories260K with a small chat template and room for 8,192 tokens, written to `path`.
bool writeChatModel(const std::string& path);

class LiveEngine {
 public:
  explicit LiveEngine(const char* name);
  ~LiveEngine();

  const std::string& folder() const { return folder_; }  // the data folder, empty and not yet there at first
  // Before open: a device without arithmetic that the test can hold between two steps, instead of the processor.
  void useFakeDevice(std::shared_ptr<test::FakeDeviceKnobs> knobs) { knobs_ = std::move(knobs); }
  bool open(const std::string& model, const std::string& packs = {});
  MainWindow& showWindow();
  bool waitForModel();
  // The whole answer; usage stays zero when it failed.
  AnswerEnd ask(const Ask& ask);

  engine::Engine& engine() { return *engine_; }
  LocalClient& client() { return *client_; }
  MainWindow& window() { return *window_; }
  const SnapshotView& view() const { return *client_->view(); }

 private:
  std::string folder_;
  std::shared_ptr<test::FakeDeviceKnobs> knobs_;
  std::shared_ptr<engine::Engine> engine_;
  Theme theme_;
  std::unique_ptr<LocalClient> client_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace larder::gui
