// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/live_engine.h"

#include <unistd.h>

#include <QtTest>
#include <filesystem>

#include "runtime/model/model.h"
#include "test_paths.h"
#include "tests/support/fake_device.h"
#include "tests/support/gguf_writer.h"

namespace larder::gui {
namespace {

constexpr std::uint32_t kContext = 8192;
constexpr const char* kChatTemplate =
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}";

}  // namespace

std::string storiesPath(bool half) {
  return std::string(LARDER_TEST_DATA) + "/models-tiny/stories260K-" + (half ? "f16" : "f32") + ".gguf";
}

bool writeChatModel(const std::string& path) {
  const auto file = gguf::File::open(storiesPath());
  if (!file.ok()) return false;
  test::GgufWriter writer = test::GgufWriter::from(**file);
  writer.set_string("tokenizer.chat_template", kChatTemplate);
  writer.set_u32("llama.context_length", kContext);
  return writer.build().save(path);
}

LiveEngine::LiveEngine(const char* name)
    : folder_((std::filesystem::temp_directory_path() / (std::string(name) + "_" + std::to_string(getpid()))).string()),
      client_(std::make_unique<LocalClient>()) {
  std::filesystem::remove_all(folder_);
}

LiveEngine::~LiveEngine() {
  window_.reset();
  client_.reset();
  engine_.reset();
  std::filesystem::remove_all(folder_);
}

bool LiveEngine::open(const std::string& model, const std::string& packs) {
  engine::EngineOptions options;
  options.data_dir = folder_;
  options.model_path = model;
  options.packs_dir = packs;
  if (knobs_ != nullptr) {
    options.overrides = {{"pool.bytes", "33554432"}};  // the device clears it all at once
    options.make_executor = [knobs = knobs_](std::shared_ptr<const model::Model> loaded, exec::ExecutorOptions executor,
                                             exec::StepDone done) -> Result<std::unique_ptr<exec::Executor>> {
      return std::unique_ptr<exec::Executor>(
          std::make_unique<test::FakeDevice>(loaded->config(), executor, test::FakeDeviceOptions{}, knobs, done));
    };
  }
  auto opened = engine::Engine::open(std::move(options));
  if (!opened.ok()) {
    qWarning("%s", opened.error().message.c_str());
    return false;
  }
  engine_ = std::move(opened).value();
  client_->setEngine(engine_);
  return true;
}

MainWindow& LiveEngine::showWindow() {
  window_ = std::make_unique<MainWindow>(theme_, *client_);
  window_->show();
  window_->activateWindow();
  return *window_;
}

bool LiveEngine::waitForModel() {
  return QTest::qWaitFor([this] { return readyModel(view()) != nullptr; }, 20'000);
}

AnswerEnd LiveEngine::ask(const Ask& ask) {
  AnswerEnd end;
  bool over = false;
  const std::unique_ptr<AnswerStream> stream(client_->ask(ask, nullptr));
  QObject::connect(stream.get(), &AnswerStream::finished, [&](const AnswerEnd& done) {
    end = done;
    over = true;
  });
  QObject::connect(stream.get(), &AnswerStream::failed, [&](const QString& message) {
    qWarning("%s", qPrintable(message));
    over = true;
  });
  if (!QTest::qWaitFor([&] { return over; }, 30'000)) qWarning("no answer within 30 s");
  return end;
}

}  // namespace larder::gui
