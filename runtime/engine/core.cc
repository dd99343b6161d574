// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/core.h"

#include "runtime/base/log.h"
#include "runtime/model/digest.h"
#include "storage/disk_io.h"

namespace larder::engine {
namespace {

constexpr Ticks kScanEveryNs = 5'000'000'000;

// The card where one is usable, else the processor.
ExecutorFactory default_factory(const std::string& device) {
  return [device](std::shared_ptr<const model::Model> model, const exec::ExecutorOptions& options,
                  exec::StepDone done) -> Result<std::unique_ptr<exec::Executor>> {
    if (device != "cpu") {
      Result<std::unique_ptr<exec::Executor>> cuda = exec::make_cuda_executor(model, options, done);
      if (cuda.ok() || device == "cuda") return cuda;
    }
    return exec::make_cpu_executor(std::move(model), options, std::move(done));
  };
}

}  // namespace

Engine::Core::Core(EngineOptions options, Opened opened, std::unique_ptr<Clock> own_clock)
    : options_(std::move(options)),
      own_clock_(std::move(own_clock)),
      clock_(own_clock_ ? own_clock_.get() : options_.clock),
      opened_(std::move(opened)),
      metrics_(kVersion),
      inbox_(std::make_shared<LoopInbox>(kInboxCapacity)),
      preparation_("prepare", 2, kPrepareCapacity),
      loader_("loader", 1, 16),
      clerk_("clerk", 1, kClerkCapacity),
      hasher_("hasher", 1, 16),
      services_{*clock_,
                *opened_.settings,
                *opened_.registry,
                metrics_,
                preparation_,
                loader_,
                clerk_,
                hasher_,
                models_,
                snapshots_,
                waiting_,
                next_request_,
                inbox_,
                options_.make_executor ? options_.make_executor
                                       : default_factory(opened_.settings->text(settings::Key::kEngineDevice)),
                options_.hash_weights ? options_.hash_weights : model::weights_digest,
                options_.open_disk ? options_.open_disk : [] { return storage::open_disk(storage::IoPath::kProbe); },
                options_.read_memory ? options_.read_memory : read_memory_facts,
                opened_.dir->path(),
                opened_.dir->file("models"),
                opened_.dir->file("digests"),
                options_.packs_dir},
      loop_(std::make_unique<EngineLoop>(services_)) {
  entry::PacksRead packs = entry::read_packs(options_.packs_dir);
  for (const Error& refused : packs.refused) log::warning("entry", "a pack was refused: " + to_string(refused));
  loop_->packs().set_packs(std::move(packs.packs));
  loop_->start();
  scan_models();
}

Engine::Core::~Core() {
  // The loop ends what runs; the pools then drop what still waits, and nobody is left to answer.
  loop_->stop();
}

void Engine::Core::want_snapshot() {
  if (!snapshot_asked_.exchange(true)) {
    const bool pushed = inbox_->push([this](EngineLoop& loop) {
      snapshot_asked_.store(false);
      loop.want_snapshot();
    });
    if (!pushed) snapshot_asked_.store(false);
  }
  if (clock_->now() - last_scan_.load() >= kScanEveryNs) scan_models();
}

void Engine::Core::scan_models() {
  last_scan_.store(clock_->now());
  // A full clerk leaves the list as it was until the next look.
  static_cast<void>(clerk_.post([inbox = inbox_, dir = services_.models_dir] {
    auto files = std::make_shared<std::vector<ModelInfo>>(list_model_files(dir));
    inbox->push_reserved([files](EngineLoop& loop) { loop.models().set_files(std::move(*files)); });
  }));
}

}  // namespace larder::engine
