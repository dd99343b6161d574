// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/model_host.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/engine/loop.h"
#include "runtime/model/digest.h"
#include "storage/placement.h"

namespace larder::engine {
namespace {

constexpr std::size_t kMaxGhosts = 65'536;
constexpr std::size_t kMaxMarks = 65'536;
constexpr std::uint32_t kMaxRows = 2048;

using settings::Key;

ModelInfo info_of(const LoadedModel& loaded, const exec::DeviceInfo& device) {
  ModelInfo info;
  info.id = loaded.id;
  info.state = ModelInfo::State::kReady;
  info.name = loaded.name;
  info.path = loaded.model->path();
  info.architecture = loaded.model->config().architecture;
  info.quantisation = loaded.model->quantisation();
  info.file_bytes = loaded.model->file_bytes();
  info.weight_bytes = loaded.model->weight_bytes();
  info.kv_bytes_per_token = loaded.layout.block_bytes() / kernels::kBlockTokens;
  info.n_context = loaded.model->config().n_context;
  info.max_request_tokens = loaded.max_request_tokens;
  info.progress = 1;
  info.arithmetic_id = device.arithmetic_id;
  info.device = device.device;
  info.error = loaded.chat_error;
  info.has_chat_template = loaded.chat != nullptr;
  return info;
}

}  // namespace

ModelHost::ModelHost(Services& services, ColdTier& cold, sched::SequenceSink& sink, Hooks hooks)
    : services_(services), cold_(cold), sink_(sink), hooks_(std::move(hooks)), history_(kMaxGhosts, kMaxMarks) {}

ModelHost::~ModelHost() { close(); }

void ModelHost::load(const std::string& path, VerbDone done) {
  if (loading_ || draining_) {
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
  if (current_) {
    begin_drain(nullptr, "another model is being loaded");
  } else {
    make_executor();
  }
}

void ModelHost::begin_drain(VerbDone done, const char* why) {
  draining_ = true;
  unload_done_ = std::move(done);
  services_.model.set(nullptr);
  stop_hashing();
  hooks_.end_requests(Error{ErrorCode::kUnavailable, std::string("the model was unloaded: ") + why, ""});
  abort_running();
  tick();
}

void ModelHost::unload(ModelId model, VerbDone done) {
  if (loading_ && loading_->id == model) {
    loading_->cancel->store(true);
    done->answer(VerbResult{});
    return;
  }
  if (!current_ || current_->loaded->id != model) {
    if (failed_ && failed_->id == model) {
      failed_.reset();
      done->answer(VerbResult{});
      return;
    }
    done->answer(Error{ErrorCode::kNotFound, "no model " + std::to_string(model.value) + " is loaded", ""});
    return;
  }
  if (draining_) {
    done->answer(Error{ErrorCode::kConflict, "the model is being unloaded already", ""});
    return;
  }
  begin_drain(std::move(done), "it was asked for");
}

void ModelHost::tick() {
  if (!draining_ || !current_) return;
  if (current_->scheduler->running_step() != 0 || !current_->scheduler->idle() || !cold_.drained()) return;
  drop_current();
  draining_ = false;
  hooks_.changed();
  if (const VerbDone done = std::exchange(unload_done_, nullptr)) done->answer(VerbResult{});
  if (loading_ && loading_->parts) make_executor();
}

void ModelHost::drop_current() {
  current_->scheduler.reset();
  cold_.detach();
  current_->cache->retire("unloaded");
  current_->cache.reset();
  // Giving a large arena back takes a while; the loader does it, in order with the next one's making.
  std::shared_ptr<exec::Executor> executor = std::move(current_->executor);
  current_.reset();
  if (!services_.loader.post([executor]() mutable { executor.reset(); })) executor.reset();
}

void ModelHost::make_executor() {
  const ModelId id = loading_->id;
  const std::uint64_t generation = next_generation_++;
  const auto inbox = services_.inbox;
  exec::StepDone step_done = [inbox, generation](exec::StepResult result) {
    auto shared = std::make_shared<exec::StepResult>(std::move(result));
    inbox->push_reserved(
        [generation, shared](EngineLoop& loop) { loop.models().step_done(generation, std::move(*shared)); });
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
  LoadedParts& parts = *loading_->parts;
  auto next = std::make_unique<Current>();
  next->generation = generation;
  next->executor = std::move(*made).value();
  next->identity = parts.identity;
  next->identity->arithmetic_id = next->executor->info().arithmetic_id;
  parts.model.identity = next->identity;
  auto loaded = std::make_shared<const LoadedModel>(std::move(parts.model));
  next->loaded = loaded;
  kv::CacheOptions cache;
  cache.block_count = next->executor->block_count();
  cache.longest_request_blocks = (loaded->max_request_tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
  cache.pin_budget_blocks = parts.pool.pin_budget_blocks;
  cache.clock = &services_.clock;
  cache.history = &history_;
  cache.tier = next->executor->info().device == "cuda" ? "device" : "host";
  cache.lower_tier = true;
  cache.max_cold_nodes = max_cold_nodes(services_.settings);
  next->cache = std::make_unique<kv::PrefixCache>(std::move(cache), std::make_unique<storage::LeafLru>());
  current_ = std::move(next);
  current_->scheduler = std::make_unique<sched::Scheduler>(*current_->cache, sink_, services_.clock, limits());
  current_->scheduler->set_tier_gate(&cold_);
  const VerbDone done = loading_->done;
  loading_.reset();
  apply_settings();
  cold_.attach(*current_->cache, *current_->executor, current_->identity, [this, done] { answer_now(done); });
}

void ModelHost::answer_now(const VerbDone& done) {
  current_->ready = true;
  services_.model.set(current_->loaded);
  start_hashing();
  hooks_.changed();
  log::info("engine", "model ready: " + current_->loaded->name + ", pool of " +
                          std::to_string(current_->executor->block_count()) + " blocks, " +
                          current_->executor->info().arithmetic_id);
  done->answer(VerbResult{});
}

void ModelHost::start_hashing() {
  if (current_->identity->weights_known) return;
  const auto hashing = std::make_shared<Hashing>();
  current_->hashing = hashing;
  const bool posted =
      services_.hasher.post([hashing, generation = current_->generation, model = current_->loaded->model,
                             inbox = services_.inbox, hash = services_.hash_weights, cache = services_.digest_cache] {
        const auto progress = [&hashing](double done) { hashing->progress.store(done); };
        auto digest = std::make_shared<Result<Digest256>>(hash(model->file(), {cache, progress, &hashing->cancel}));
        inbox->push_reserved([generation, digest](EngineLoop& loop) {
          loop.models().hashed(generation, *digest);
          loop.want_snapshot();
        });
      });
  if (!posted) current_->digest_error = "too many files wait to be hashed: load the model again";
}

void ModelHost::stop_hashing() {
  if (current_->hashing) current_->hashing->cancel.store(true);
}

void ModelHost::hashed(std::uint64_t generation, const Result<Digest256>& digest) {
  if (!current_ || current_->generation != generation) return;
  if (digest.ok()) {
    current_->identity->learn_weights(*digest);
    if (!draining_) cold_.identity_known();
    return;
  }
  if (draining_) return;  // it was stopped
  current_->digest_error = digest.error().message;
  log::warning("engine", "a model's digest was not computed, its KV stays in memory: " + to_string(digest.error()));
}

sched::SchedulerLimits ModelHost::limits() const {
  const settings::Settings& settings = services_.settings;
  sched::SchedulerLimits limits;
  limits.max_batch = static_cast<std::uint32_t>(settings.integer(Key::kEngineMaxBatch));
  limits.plan.step_ns = static_cast<double>(settings.integer(Key::kEngineStepMs)) * 1e6;
  limits.plan.alone_rows = static_cast<std::uint32_t>(settings.integer(Key::kEnginePrefillChunk));
  limits.plan.max_rows = kMaxRows;
  limits.plan.n_layers = current_->loaded->model->config().n_layers;
  return limits;
}

void ModelHost::apply_settings() {
  if (!current_) return;
  current_->scheduler->set_limits(limits());
  for (const tenant::TenantRecord& tenant : services_.registry.tenants()) {
    const std::uint64_t blocks = tenant.quota_bytes / current_->loaded->layout.block_bytes();
    current_->cache->set_quota(tenant.id, static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, 0xffffffff)));
  }
}

void ModelHost::submit(exec::Step step) { current_->executor->submit(std::move(step)); }

void ModelHost::abort_running() {
  if (!current_) return;
  if (const std::uint64_t step = current_->scheduler->running_step(); step != 0) current_->executor->abort(step);
}

void ModelHost::step_done(std::uint64_t generation, exec::StepResult result) {
  if (!current_ || current_->generation != generation) return;
  current_->scheduler->finish_step(std::move(result));
}

void ModelHost::close() {
  if (loading_) loading_->cancel->store(true);
  loading_.reset();
  if (!current_) return;
  services_.model.set(nullptr);
  stop_hashing();
  cold_.close();
  current_->executor.reset();  // waits for the running step; its result finds nobody any more
  current_->scheduler.reset();
  current_->cache.reset();
  current_.reset();
}

ModelInfo ModelHost::current_info() const {
  ModelInfo info = info_of(*current_->loaded, current_->executor->info());
  info.digest_error = current_->digest_error;
  if (current_->identity->weights_known) {
    info.identity = ModelInfo::Identity::kKnown;
    info.digest = model::to_hex(current_->identity->weights);
  } else if (!info.digest_error.empty()) {
    info.identity = ModelInfo::Identity::kFailed;
  } else {
    info.digest_progress = current_->hashing->progress.load();
  }
  return info;
}

std::vector<ModelInfo> ModelHost::infos() const {
  std::vector<ModelInfo> infos;
  if (current_) {
    infos.push_back(current_info());
    if (!current_->ready) infos.back().state = ModelInfo::State::kLoading;
    if (draining_) infos.back().state = ModelInfo::State::kUnloading;
  }
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
