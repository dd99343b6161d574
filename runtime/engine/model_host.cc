// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/model_host.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/engine/loop.h"
#include "runtime/kv/block_range.h"

namespace larder::engine {
namespace {

constexpr std::size_t kMaxGhosts = 65'536;
constexpr std::size_t kMaxMarks = 65'536;

}  // namespace

ModelHost::ModelHost(Services& services, DiskTier& disk, entry::EntryBook& entries, sched::SequenceSink& sink,
                     Hooks hooks)
    : services_(services),
      hooks_(std::move(hooks)),
      history_(kMaxGhosts, kMaxMarks),
      shared_{services, disk, entries, sink, history_} {}

ModelHost::~ModelHost() { close(); }

void ModelHost::load(const std::string& path, VerbDone done) {
  if (loading_ || any_drains()) {
    done->answer(Error{ErrorCode::kConflict, "another model is being loaded or unloaded: wait, or cancel it", path});
    return;
  }
  loading_ = std::make_unique<Loading>();
  loading_->id = ModelId{next_model_++};
  loading_->path = path;
  loading_->cancel = std::make_shared<std::atomic<bool>>(false);
  loading_->done = std::move(done);
  failed_.reset();
  const ModelId id = loading_->id;
  LoadWatch watch;
  watch.cancel = loading_->cancel;
  const auto inbox = services_.inbox;
  watch.progress = [inbox, id](double progress) {
    // A lost tick is followed by another one.
    static_cast<void>(inbox->push([id, progress](EngineLoop& loop) {
      Loading* loading = loop.models().loading_.get();
      if (loading != nullptr && loading->id == id) loading->progress = std::max(loading->progress, progress);
    }));
  };
  const bool posted = services_.loader.post([inbox, id, path, watch, &services = services_] {
    auto parts =
        std::make_shared<Result<LoadedParts>>(load_parts(path, services.digest_cache, services.settings, watch));
    inbox->push_reserved([id, parts](EngineLoop& loop) { loop.models().parts_ready(id, std::move(*parts)); });
  });
  if (!posted) load_failed({ErrorCode::kUnavailable, "the loader is busy: try again", path});
}

void ModelHost::load_failed(const Error& error) {
  log::warning("engine", "a model was not loaded: " + std::string(error_code_name(error.code)) + ": " + error.message);
  ModelInfo failed;
  failed.id = loading_->id;
  failed.state = ModelInfo::State::kFailed;
  failed.path = loading_->path;
  failed.name = loading_->path.substr(loading_->path.find_last_of('/') + 1);
  failed.error = to_string(error);
  failed_ = std::move(failed);
  const VerbDone done = loading_->done;
  loading_.reset();
  done->answer(error);
}

void ModelHost::parts_ready(ModelId id, Result<LoadedParts> parts) {
  if (!loading_ || loading_->id != id) return;
  if (!parts.ok()) return load_failed(parts.error());
  if (loading_->cancel->load()) return load_failed({ErrorCode::kCancelled, "loading was cancelled", loading_->path});
  loading_->parts = std::move(parts).value();
  loading_->parts->model.id = id;
  loading_->progress = 1;
  if (models_.empty()) return make_executor();
  begin_drain(*models_.front(), nullptr, "another model is being loaded");
}

ResidentModel* ModelHost::newest() const {
  const auto found =
      std::find_if(models_.rbegin(), models_.rend(), [](const auto& model) { return model->answers(); });
  return found == models_.rend() ? nullptr : found->get();
}

ResidentModel* ModelHost::of(ModelId id) const {
  const auto found =
      std::find_if(models_.begin(), models_.end(), [id](const auto& model) { return model->id() == id; });
  return found == models_.end() ? nullptr : found->get();
}

ResidentModel* ModelHost::of_generation(std::uint64_t generation) const {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [generation](const auto& model) { return model->generation() == generation; });
  return found == models_.end() ? nullptr : found->get();
}

ResidentModel* ModelHost::of(NodeId node) const {
  const auto found = std::find_if(models_.begin(), models_.end(),
                                  [node](const auto& model) { return model->cache().facts(node).node.value != 0; });
  return found == models_.end() ? nullptr : found->get();
}

bool ModelHost::any_drains() const {
  return std::any_of(models_.begin(), models_.end(), [](const auto& model) { return model->draining(); });
}

// Who is asked for a request's model sees those that answer.
void ModelHost::publish() {
  const ResidentModel* model = newest();
  services_.model.set(model == nullptr ? nullptr : model->loaded());
}

void ModelHost::begin_drain(ResidentModel& model, VerbDone done, const char* why) {
  unload_done_ = std::move(done);
  model.begin_drain();
  publish();
  hooks_.end_requests(model, Error{ErrorCode::kUnavailable, std::string("the model was unloaded: ") + why, ""});
  model.abort_running();
  tick();
}

void ModelHost::unload(ModelId id, VerbDone done) {
  if (loading_ && loading_->id == id) {
    loading_->cancel->store(true);
    done->answer(VerbResult{});
    return;
  }
  ResidentModel* model = of(id);
  if (model == nullptr) {
    if (failed_ && failed_->id == id) {
      failed_.reset();
      done->answer(VerbResult{});
      return;
    }
    done->answer(Error{ErrorCode::kNotFound, "no model " + std::to_string(id.value) + " is loaded", ""});
    return;
  }
  if (model->draining()) {
    done->answer(Error{ErrorCode::kConflict, "the model is being unloaded already", ""});
    return;
  }
  begin_drain(*model, std::move(done), "it was asked for");
}

void ModelHost::tick() {
  const auto found = std::find_if(models_.begin(), models_.end(), [](const auto& model) { return model->draining(); });
  if (found == models_.end() || !(*found)->drained()) return;
  drop(**found);
  hooks_.changed();
  if (const VerbDone done = std::exchange(unload_done_, nullptr)) done->answer(VerbResult{});
  if (loading_ && loading_->parts) make_executor();
}

void ModelHost::drop(ResidentModel& model) {
  // Giving a large arena back takes a while; the loader does it, in order with the next one's making.
  std::shared_ptr<exec::Executor> executor = model.retire();
  std::erase_if(models_, [&model](const auto& each) { return each.get() == &model; });
  if (!services_.loader.post([executor]() mutable { executor.reset(); })) executor.reset();
}

void ModelHost::make_executor() {
  const ModelId id = loading_->id;
  const std::uint64_t generation = next_generation_++;
  const auto inbox = services_.inbox;
  exec::StepDone step_done = [inbox, generation](exec::StepResult result) {
    auto shared = std::make_shared<exec::StepResult>(std::move(result));
    inbox->push_reserved([generation, shared](EngineLoop& loop) {
      // A step of an executor that is gone is ignored.
      ResidentModel* model = loop.models().of_generation(generation);
      if (model != nullptr) model->step_done(std::move(*shared));
    });
  };
  const bool posted = services_.loader.post([inbox, id, generation, step_done, model = loading_->parts->model.model,
                                             options = loading_->parts->executor, make = services_.make_executor] {
    auto made = std::make_shared<Result<std::unique_ptr<exec::Executor>>>(make(model, options, step_done));
    inbox->push_reserved(
        [id, generation, made](EngineLoop& loop) { loop.models().executor_ready(id, generation, made); });
  });
  if (!posted) load_failed({ErrorCode::kUnavailable, "the loader is busy: try again", loading_->path});
}

void ModelHost::executor_ready(ModelId id, std::uint64_t generation, const MadeExecutor& made) {
  if (!loading_ || loading_->id != id) return;
  if (!made->ok()) return load_failed(made->error());
  auto next = std::make_unique<ResidentModel>(shared_, generation, std::move(*loading_->parts),
                                              std::move(*made).value());
  ResidentModel& model = *next;
  models_.push_back(std::move(next));
  const VerbDone done = loading_->done;
  loading_.reset();
  model.begin([this, done] {
    publish();
    hooks_.changed();
    done->answer(VerbResult{});
  });
}

void ModelHost::apply_settings() {
  for (const auto& model : models_) model->apply_settings();
}

void ModelHost::close() {
  if (loading_) loading_->cancel->store(true);
  loading_.reset();
  services_.model.set(nullptr);
  shared_.disk.close();
  models_.clear();
}

std::vector<ModelInfo> ModelHost::infos() const {
  std::vector<ModelInfo> infos;
  for (const auto& model : models_) infos.push_back(model->info());
  if (loading_) {
    ModelInfo info;
    info.id = loading_->id;
    info.state = ModelInfo::State::kLoading;
    info.path = loading_->path;
    info.name = loading_->path.substr(loading_->path.find_last_of('/') + 1);
    info.progress = loading_->progress;
    infos.push_back(std::move(info));
  }
  if (failed_) infos.push_back(*failed_);
  for (const ModelInfo& file : files_) {
    const bool shown = std::any_of(infos.begin(), infos.end(), [&](const ModelInfo& i) { return i.path == file.path; });
    if (!shown) infos.push_back(file);
  }
  return infos;
}

}  // namespace larder::engine
