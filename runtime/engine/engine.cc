// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/engine.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/engine/core.h"

namespace larder::engine {
namespace {

using settings::Key;

constexpr std::uint32_t kMaxChoices = 16;
constexpr std::size_t kMaxStops = 16;
constexpr std::size_t kMaxStopBytes = 256;

Status check_request(const Request& request, const LoadedModel& model) {
  if (request.n < 1 || request.n > kMaxChoices) {
    return Error{ErrorCode::kInvalidArgument,
                 "n is " + std::to_string(request.n) + ": use 1 to " + std::to_string(kMaxChoices), "n"};
  }
  if (request.stop.size() > kMaxStops) {
    return Error{ErrorCode::kInvalidArgument, "at most " + std::to_string(kMaxStops) + " stop strings", "stop"};
  }
  for (const std::string& stop : request.stop) {
    if (stop.empty() || stop.size() > kMaxStopBytes) {
      return Error{
          ErrorCode::kInvalidArgument,
          "a stop string has " + std::to_string(stop.size()) + " bytes: use 1 to " + std::to_string(kMaxStopBytes),
          "stop"};
    }
  }
  return sample::validate_params(request.sampling, model.model->config().n_vocab);
}

Error unknown_model(const std::string& asked, const LoadedModels::List& models) {
  std::string names;
  for (const auto& model : models) names += (names.empty() ? "" : ", ") + model->name;
  return {ErrorCode::kNotFound,
          "the model " + asked.substr(0, 128) + " is not loaded: ask for " + names + ", or load it first", "model"};
}

// No name: the one loaded last. A name: whose it is, else whose file it is.
std::shared_ptr<const LoadedModel> find_model(const LoadedModels::List& models, const std::string& asked) {
  if (asked.empty()) return models.front();
  for (const auto& model : models) {
    if (model->name == asked) return model;
  }
  for (const auto& model : models) {
    if (model->stem == asked) return model;
  }
  return nullptr;
}

log::Level log_level(const std::string& word) {
  if (word == "debug") return log::Level::kDebug;
  if (word == "warning") return log::Level::kWarning;
  return word == "error" ? log::Level::kError : log::Level::kInfo;
}

}  // namespace

Engine::Engine(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
  Core::Opened opened;
  std::unique_ptr<Clock> own_clock;
  if (options.clock == nullptr) own_clock = std::make_unique<SystemClock>();
  const Clock& clock = options.clock == nullptr ? *own_clock : *options.clock;
  ASSIGN_OR_RETURN(opened.dir, storage::DataDir::open(options.data_dir));
  ASSIGN_OR_RETURN(opened.settings, settings::Settings::load(opened.dir->file("config.toml"), options.overrides));
  log::set_level(log_level(opened.settings->text(Key::kLogLevel)));
  ASSIGN_OR_RETURN(opened.registry, tenant::Registry::open(*opened.dir, clock));
  for (const std::string& notice : opened.registry->notices()) log::warning("tenant", notice);
  const std::string model = options.model_path;
  std::unique_ptr<Engine> engine(
      new Engine(std::make_unique<Core>(std::move(options), std::move(opened), std::move(own_clock))));
  if (!model.empty()) {
    engine->perform(engine->local_admin(), LoadModel{model}, [](const Result<VerbResult>&) {});
  }
  return engine;
}

Result<std::shared_ptr<TokenStream>> Engine::submit(const Principal& who, Request request) {
  const auto refuse = [this](Error error) {
    core_->metrics().request_refused(error_code_name(error.code));
    return error;
  };
  Incoming incoming;
  incoming.submitted = core_->clock().now();
  const LoadedModels::List models = core_->models().all();
  if (models.empty()) {
    return refuse({ErrorCode::kUnavailable, "no model is ready: load one, or wait until it is loaded", "model"});
  }
  incoming.model = find_model(models, request.model);
  if (incoming.model == nullptr) return refuse(unknown_model(request.model, models));
  if (const Status checked = check_request(request, *incoming.model); !checked.ok()) return refuse(checked.error());
  const auto limit = static_cast<std::uint32_t>(core_->settings().integer(Key::kEngineQueueLimit));
  if (core_->waiting().fetch_add(1) >= limit) {
    core_->waiting().fetch_sub(1);
    return refuse({ErrorCode::kResourceExhausted,
                   std::to_string(limit) + " requests wait already (engine.queue_limit): try again later", ""});
  }
  incoming.id = core_->next_request_id();
  incoming.who = who;
  incoming.request = std::move(request);
  auto stream = std::make_shared<TokenStream>(incoming.id);
  incoming.stream = stream;
  const auto inbox = core_->shared_inbox();
  stream->set_writer_hooks(
      [inbox] { inbox->push_reserved([](EngineLoop&) {}); },
      [inbox, id = incoming.id] { inbox->push_reserved([id](EngineLoop& loop) { loop.cancel(id, {}); }); });
  auto shared = std::make_shared<Incoming>(std::move(incoming));
  if (!inbox->push([shared](EngineLoop& loop) { loop.begin(std::move(*shared)); })) {
    core_->waiting().fetch_sub(1);
    return refuse({ErrorCode::kResourceExhausted, "the engine's inbox is full: try again later", ""});
  }
  return stream;
}

void Engine::perform(const Principal& who, Verb verb, std::function<void(Result<VerbResult>)> done) {
  auto once = std::make_shared<OnceDone>(std::move(done));
  const bool pushed = core_->inbox().push(
      [who, verb = std::move(verb), once](EngineLoop& loop) { loop.verbs().perform(who, verb, once); });
  if (!pushed) once->answer(Error{ErrorCode::kResourceExhausted, "the engine's inbox is full: try again later", ""});
}

std::shared_ptr<const Snapshot> Engine::snapshot(const Principal& who, std::uint64_t since) {
  core_->want_snapshot();
  return view_for(*core_->snapshots().get(), who, since);
}

Result<Principal> Engine::authenticate(std::string_view key) const {
  if (key.empty()) {
    if (core_->settings().flag(Key::kApiKeylessLoopback)) {
      ASSIGN_OR_RETURN(const tenant::TenantRecord local, core_->registry().tenant(tenant::kLocal));
      return Principal{local.id, KeyId{}, false, local.name};
    }
    return Error{ErrorCode::kUnauthorized,
                 "a key is needed: send `Authorization: Bearer KEY` (or set api.keyless_loopback for this machine)",
                 ""};
  }
  ASSIGN_OR_RETURN(const tenant::KeyRecord record, core_->registry().authenticate(key));
  core_->registry().touch_key(record.id, core_->clock().wall());
  return Principal{record.tenant, record.id, record.admin, record.tenant_name};
}

Principal Engine::local_admin() const {
  const auto home = core_->registry().tenant(tenant::kHome);
  return Principal{tenant::kHome, KeyId{}, true, home.ok() ? home->name : std::string("home")};
}

Result<std::vector<Token>> Engine::tokenize(std::string_view text, bool parse_special) const {
  const std::shared_ptr<const LoadedModel> model = core_->models().newest();
  if (model == nullptr) return Error{ErrorCode::kUnavailable, "no model is ready: load one first", "model"};
  return model->tokenizer->encode(text, parse_special);
}

Result<std::uint32_t> Engine::count_chat_tokens(const ChatPrompt& prompt) const {
  const std::shared_ptr<const LoadedModel> model = core_->models().newest();
  if (model == nullptr) return Error{ErrorCode::kUnavailable, "no model is ready: load one first", "model"};
  ASSIGN_OR_RETURN(const PreparedPrompt prepared, prepare_prompt(*model, Prompt(prompt), core_->clock().wall()));
  return static_cast<std::uint32_t>(prepared.tokens.size());
}

const settings::Settings& Engine::settings() const { return core_->settings(); }

std::string Engine::metrics_text() const {
  core_->want_snapshot();
  return core_->metrics().text();
}

bool Engine::ready() const { return core_->models().newest() != nullptr; }

void Engine::announce(std::string_view url) { core_->dir().set_url(url); }

}  // namespace larder::engine
