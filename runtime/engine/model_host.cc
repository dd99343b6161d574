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
      shared_{services, disk, entries, sink, history_, ids_} {}

ModelHost::~ModelHost() { close(); }

void ModelHost::load(const std::string& path, VerbDone done) {
  if (loading_) {
    done->answer(Error{ErrorCode::kConflict, "another model is being loaded: wait, or cancel it", path});
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
  LoadWish wish;
  wish.path = path;
  const bool first = std::all_of(models_.begin(), models_.end(),
                                 [&](const auto& model) { return model->draining() || model->path() == path; });
  if (!first) wish.kv_bytes = kv_bytes_;
  const bool posted = services_.loader.post([inbox, id, wish, watch, &services = services_]() mutable {
    wish.memory = services.read_memory();
    auto parts =
        std::make_shared<Result<LoadedParts>>(load_parts(wish, services.digest_cache, services.settings, watch));
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
  RoomWish wish;
  wish.weight_bytes = parts->model.model->weight_bytes();
  wish.kv_bytes = parts->kv_bytes;
  wish.memory_bytes = parts->memory.reachable();
  wish.max_models = static_cast<std::uint32_t>(services_.settings.integer(settings::Key::kEngineMaxModels));
  const Result<std::vector<ModelId>> going = room_for(wish, facts());
  if (!going.ok()) return load_failed(going.error());
  loading_->parts = std::move(parts).value();
  loading_->parts->model.id = id;
  loading_->progress = 1;
  for (const ModelId each : *going) begin_drain(*of(each), "another model takes its place");
  tick();
  make_executor_if_free();
}

// Of those that stay unless they have to go.
std::vector<ResidentFacts> ModelHost::facts() const {
  std::vector<ResidentFacts> all;
  for (const auto& model : models_) {
    if (model->draining()) continue;
    ResidentFacts facts;
    facts.id = model->id();
    facts.weight_bytes = model->loaded()->model->weight_bytes();
    facts.busy = hooks_.busy(model->id());
    facts.replaced = model->path() == loading_->path;
    facts.last_use = model->last_use();
    all.push_back(facts);
  }
  return all;
}

// Two files may call their models the same; who asks by name needs to tell them apart.
void ModelHost::name_apart(LoadedParts& parts) const {
  const auto taken = [this](const std::string& name) {
    return std::any_of(models_.begin(), models_.end(),
                       [&name](const auto& model) { return model->loaded()->name == name; });
  };
  LoadedModel& model = parts.model;
  if (taken(model.name)) model.name = model.stem;
  for (int next = 2; taken(model.name); ++next) model.name = model.stem + "-" + std::to_string(next);
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

void ModelHost::publish() {
  LoadedModels::List answering;
  for (auto model = models_.rbegin(); model != models_.rend(); ++model) {
    if ((*model)->answers()) answering.push_back((*model)->loaded());
  }
  services_.models.set(std::move(answering));
}

void ModelHost::begin_drain(ResidentModel& model, const char* why) {
  model.begin_drain();
  publish();
  hooks_.end_requests(model, Error{ErrorCode::kUnavailable, std::string("the model was unloaded: ") + why, ""});
  model.abort_running();
}

void ModelHost::unload(ModelId id, VerbDone done) {
  ResidentModel* model = of(id);
  if (loading_ && loading_->id == id) {
    if (model == nullptr) {
      loading_->cancel->store(true);
      done->answer(VerbResult{});
      return;
    }
    const VerbDone loaded = loading_->done;
    loading_.reset();
    loaded->answer(Error{ErrorCode::kCancelled, "the model was unloaded before it was ready", ""});
  }
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
  unloads_[id] = std::move(done);
  begin_drain(*model, "it was asked for");
  tick();
}

void ModelHost::tick() {
  for (std::size_t i = models_.size(); i > 0; --i) {
    ResidentModel& model = *models_[i - 1];
    model.turn_pool();
    if (!model.draining() || !model.drained()) continue;
    const ModelId id = model.id();
    drop(model);
    hooks_.gone(id);
    const auto unload = unloads_.find(id);
    if (unload == unloads_.end()) continue;
    const VerbDone done = std::move(unload->second);
    unloads_.erase(unload);
    done->answer(VerbResult{});
  }
  make_executor_if_free();
}

void ModelHost::drop(ResidentModel& model) {
  const sched::SchedulerCounts counts = model.scheduler().counts();
  past_.prefill_rows += counts.prefill_rows;
  past_.decode_rows += counts.decode_rows;
  past_.steps += counts.steps;
  past_.evicted_blocks += model.cache().counts().evicted_blocks;
  // Giving a large arena back takes a while; the loader does it, in order with the next one's making.
  std::shared_ptr<exec::Executor> executor = model.retire();
  std::erase_if(models_, [&model](const auto& each) { return each.get() == &model; });
  if (!services_.loader.post([executor]() mutable { executor.reset(); })) executor.reset();
}

// A checked file waits until those are gone that go.
void ModelHost::make_executor_if_free() {
  if (!loading_ || !loading_->parts || loading_->making || any_drains()) return;
  loading_->making = true;
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
  if (loading_->cancel->load()) {
    static_cast<void>(services_.loader.post([made] { made->value().reset(); }));
    return load_failed({ErrorCode::kCancelled, "loading was cancelled", loading_->path});
  }
  LoadedParts parts = std::move(*loading_->parts);
  loading_->parts.reset();
  if (models_.empty()) default_kv_bytes_ = parts.default_kv_bytes;
  kv_bytes_ = parts.kv_bytes;
  name_apart(parts);
  models_.push_back(
      std::make_unique<ResidentModel>(shared_, generation, std::move(parts), std::move(*made).value()));
  ResidentModel& model = *models_.back();
  static_cast<void>(share_pools());
  bound_pins(model);
  model.begin([this, &model] { answers_now(model); });
}

void ModelHost::answers_now(ResidentModel& model) {
  publish();
  hooks_.ready(model);
  if (!loading_ || loading_->id != model.id()) return;
  const VerbDone done = loading_->done;
  loading_.reset();
  done->answer(VerbResult{});
}

std::vector<PoolShare> ModelHost::share_pools() {
  std::vector<PoolShare> shares;
  if (models_.empty()) return shares;
  for (const auto& model : models_) shares.push_back(model->pool_share());
  const std::vector<std::uint32_t> limits = share_pool(kv_bytes_, shares);
  // Lower ones first: their free blocks are what the others get.
  for (const bool lowers : {true, false}) {
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (limits[i] != shares[i].limit && (limits[i] < shares[i].limit) == lowers) {
        shares[i].limit = models_[i]->set_pool_limit(limits[i]);
      }
    }
  }
  return shares;
}

bool ModelHost::pools_busy() const {
  return std::any_of(models_.begin(), models_.end(), [](const auto& model) { return model->pool_busy(); });
}

// One longest request of any model fits beside all pins.
std::uint64_t ModelHost::pin_budget(std::uint64_t kv_bytes, std::uint64_t longest_bytes) const {
  const auto percent = static_cast<std::uint64_t>(services_.settings.integer(settings::Key::kPinsBudgetPercent));
  const std::uint64_t share = kv_bytes / 100 * percent + kv_bytes % 100 * percent / 100;
  return std::min(share, kv_bytes - std::min(kv_bytes, longest_bytes));
}

std::uint64_t ModelHost::pin_budget_bytes() const {
  std::uint64_t longest = 0;
  for (const auto& model : models_) {
    longest = std::max(longest, model->longest_request_blocks() * model->block_bytes());
  }
  return models_.empty() ? 0 : pin_budget(kv_bytes_, longest);
}

void ModelHost::bound_pins(ResidentModel& model) const {
  std::uint64_t others = 0;
  for (const auto& other : models_) {
    if (other.get() != &model) others += other->cache().counts().pinned * other->block_bytes();
  }
  const std::uint64_t budget = pin_budget_bytes();
  const std::uint64_t left = budget > others ? budget - others : 0;
  model.bound_pins(static_cast<std::uint32_t>(left / model.block_bytes()));
}

Status ModelHost::may_be(std::uint64_t pool_bytes) const {
  if (models_.empty()) return {};
  const std::uint64_t bytes = pool_bytes == 0 ? default_kv_bytes_ : pool_bytes;
  std::uint64_t pinned = 0;
  std::uint64_t longest = 0;
  for (const auto& model : models_) {
    ASSIGN_OR_RETURN(const PoolPlan plan, model->plan_for(bytes));
    pinned += model->cache().counts().pinned * model->block_bytes();
    longest = std::max(longest, request_blocks(plan.max_request_tokens) * model->block_bytes());
  }
  const std::uint64_t budget = pin_budget(bytes, longest);
  if (pinned <= budget) return {};
  return Error{ErrorCode::kConflict,
               "pins hold " + std::to_string(pinned) + " bytes; a pool of " + std::to_string(bytes) +
                   " bytes lets them have " + std::to_string(budget) + ": unpin some first",
               "pool.bytes"};
}

void ModelHost::follow_budget() {
  const auto wanted = static_cast<std::uint64_t>(services_.settings.integer(settings::Key::kPoolBytes));
  if (models_.empty()) return;
  if (const Status checked = may_be(wanted); !checked.ok()) {
    log::warning("engine", "the pool stays as it is: " + to_string(checked.error()));
    return;
  }
  kv_bytes_ = wanted == 0 ? default_kv_bytes_ : wanted;
  for (const auto& model : models_) model->follow(model->plan_for(kv_bytes_).value());
  for (const auto& model : models_) bound_pins(*model);
  static_cast<void>(share_pools());
}

void ModelHost::apply_settings() {
  follow_budget();
  for (const auto& model : models_) model->apply_settings();
}

void ModelHost::close() {
  if (loading_) loading_->cancel->store(true);
  loading_.reset();
  services_.models.set({});
  shared_.disk.close();
  models_.clear();
}

// Those that answer first, the one loaded last before the others.
std::vector<ModelInfo> ModelHost::infos() const {
  std::vector<ModelInfo> infos;
  for (auto model = models_.rbegin(); model != models_.rend(); ++model) infos.push_back((*model)->info());
  std::stable_partition(infos.begin(), infos.end(),
                        [](const ModelInfo& info) { return info.state == ModelInfo::State::kReady; });
  if (loading_ && of(loading_->id) == nullptr) {
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
