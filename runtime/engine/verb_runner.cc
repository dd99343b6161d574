// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/verb_runner.h"

#include <algorithm>
#include <charconv>

#include "runtime/engine/answered.h"
#include "runtime/engine/loop.h"
#include "runtime/model/digest.h"

namespace larder::engine {
namespace {

Error no_model() { return {ErrorCode::kUnavailable, "no model is loaded: load one first", ""}; }

Error no_node(NodeId node) {
  return {ErrorCode::kNotFound, "there is no node " + std::to_string(node.value) + " in the prefix tree", ""};
}

// The model whose tree has the node; else any, whose tree says that it has not. Null without a model.
ResidentModel* model_with(const ModelHost& models, NodeId node) {
  ResidentModel* model = models.of(node);
  return model != nullptr ? model : models.newest();
}

bool needs_admin(const Verb& verb) {
  return !std::holds_alternative<Locate>(verb) && !std::holds_alternative<CancelRequest>(verb);
}

}  // namespace

void VerbRunner::perform(const Principal& who, const Verb& verb, const VerbDone& done) {
  if (loop_.closing()) return;
  loop_.works_for(done);
  if (needs_admin(verb) && !who.admin) {
    done->answer(Error{ErrorCode::kForbidden, "this needs a key with the admin right", ""});
    return;
  }
  std::visit([&](const auto& each) { run(who, each, done); }, verb);
}

void VerbRunner::on_clerk(const VerbDone& done, std::function<Result<VerbResult>()> work, LoopTask then) {
  const bool posted = post_answered<VerbResult>(
      services_.clerk, services_.inbox, std::move(work),
      [done, then = std::move(then)](EngineLoop& loop, Result<VerbResult> result) {
        loop.works_for(done);
        if (result.ok() && then) then(loop);
        loop.want_snapshot();
        done->answer(std::move(result));
      });
  if (!posted) done->answer(Error{ErrorCode::kResourceExhausted, "too many changes wait already: try again later", ""});
}

VerbDone VerbRunner::as_job(const std::string& verb, const VerbDone& done) {
  const JobId id = loop_.jobs().next_id();
  auto job_done = std::make_shared<OnceDone>([this, id, done](Result<VerbResult> result) {
    if (JobInfo* job = loop_.jobs().find(id)) {
      job->done = true;
      job->progress = 1;
      job->state = result.ok() ? JobInfo::State::kDone : JobInfo::State::kFailed;
      job->ended = services_.clock.wall();
      if (!result.ok()) job->error = to_string(result.error());
    }
    done->answer(std::move(result));
  });
  loop_.jobs().add(verb).started = services_.clock.wall();
  loop_.works_for(job_done);
  return job_done;
}

void VerbRunner::run(const Principal& who, const PinNode& verb, const VerbDone& done) {
  ResidentModel* model = model_with(loop_.models(), verb.node);
  if (model == nullptr) return done->answer(no_model());
  kv::PrefixCache* cache = &model->cache();
  kv::PinRequest request;
  request.node = verb.node;
  request.owner = who.tenant;
  if (const auto path = cache->locate(verb.node); path.ok() && !path->empty()) request.owner = path->back().owner;
  request.reason = verb.reason.substr(0, 200);
  request.expires = verb.ttl_ms > 0 ? services_.clock.wall() + verb.ttl_ms : 0;
  request.dry_run = verb.dry_run;
  loop_.models().bound_pins(*model);
  const Result<kv::PinAnswer> pinned = cache->pin(request);
  if (!pinned.ok()) return done->answer(pinned.error());
  VerbResult result;
  result.pin = pinned->pin.id;
  result.blocks = pinned->pin.blocks;
  result.bytes = result.blocks * model->block_bytes();
  result.tokens = pinned->pin.tokens;
  result.detail = pinned->arithmetic;
  loop_.want_snapshot();
  done->answer(std::move(result));
}

void VerbRunner::run(const Principal&, const Unpin& verb, const VerbDone& done) {
  if (loop_.models().all().empty()) return done->answer(no_model());
  if (verb.pin.value != 0) {
    Status status;
    for (const auto& model : loop_.models().all()) {
      status = model->cache().unpin(verb.pin);
      if (status.ok()) break;
    }
    if (!status.ok()) return done->answer(status.error());
  } else if (ResidentModel* model = loop_.models().of(verb.node);
             model == nullptr || model->cache().unpin_node(verb.node) == 0) {
    return done->answer(Error{ErrorCode::kNotFound, "no pin ends at node " + std::to_string(verb.node.value), ""});
  }
  loop_.want_snapshot();
  done->answer(VerbResult{});
}

void VerbRunner::run(const Principal&, const DeleteNode& verb, const VerbDone& done) {
  ResidentModel* model = model_with(loop_.models(), verb.node);
  if (model == nullptr) return done->answer(no_model());
  const std::vector<Digest256> rounded = model->cold().lineages().rounded_digests();
  const Result<kv::Removed> removed = model->cache().remove(verb.node, verb.when_idle, verb.dry_run, rounded);
  if (!removed.ok()) return done->answer(removed.error());
  if (!verb.dry_run) loop_.tiers().nodes_deleted();
  VerbResult result;
  result.blocks = removed->blocks_freed + removed->blocks_condemned;
  result.bytes = result.blocks * model->block_bytes();
  result.tokens = removed->tokens;
  result.detail = std::to_string(removed->blocks_freed) + " blocks freed now, " +
                  std::to_string(removed->blocks_condemned) + " when their requests end, " +
                  std::to_string(removed->stored) + " copies on disk dropped" +
                  (removed->rounded > 0 ? ", with " + std::to_string(removed->rounded) + " rounded blocks" : "");
  loop_.want_snapshot();
  done->answer(std::move(result));
}

void VerbRunner::run(const Principal& who, const Locate& verb, const VerbDone& done) {
  const ResidentModel* resident = model_with(loop_.models(), verb.node);
  if (resident == nullptr) return done->answer(no_model());
  const kv::PrefixCache& cache = resident->cache();
  const Result<std::vector<kv::TreeRow>> path = cache.locate(verb.node);
  if (!path.ok()) return done->answer(path.error());
  if (path->empty() || (!who.admin && path->back().owner != who.tenant)) return done->answer(no_node(verb.node));
  const Result<std::vector<NodeId>> nodes =
      cache.select({verb.node, !verb.below, verb.first_block, verb.block_count});
  if (!nodes.ok()) return done->answer(nodes.error());
  VerbResult result;
  const LoadedModel& model = *resident->loaded();
  const double row_ns = resident->scheduler().rates().prefill_row_ns();
  const std::string pool = resident->pool_tier();
  for (const kv::TreeRow& row : *path) {
    result.placement.push_back(tree_node(row, model, row_ns, pool == "device"));
    result.blocks += row.blocks;
    result.bytes += result.placement.back().bytes;
    result.tokens += row.tokens;
  }
  result.ranges = placements_of(cache, *nodes, model.layout, pool, resident->cold().in_ram(*nodes));
  std::erase_if(result.ranges, [&](const BlockPlacement& row) { return !who.admin && row.tenant != who.tenant.value; });
  if (model.identity->weights_known) result.identity = model::to_hex(kv::identity_digest(*model.identity));
  done->answer(std::move(result));
}

void VerbRunner::run(const Principal& who, const MoveBlocks& verb, const VerbDone& done) {
  const TierVerb kind = verb.keep ? TierVerb::kCopy : TierVerb::kMove;
  answer_job(loop_.tiers().order(who, kind, verb.what, verb.to, verb.dry_run), done);
}

void VerbRunner::run(const Principal& who, const VerifyBlocks& verb, const VerbDone& done) {
  answer_job(loop_.tiers().order(who, TierVerb::kVerify, verb.what, {}, verb.dry_run), done);
}

void VerbRunner::run(const Principal& who, const CompressBlocks& verb, const VerbDone& done) {
  answer_job(loop_.tiers().order(who, TierVerb::kCompress, verb.what, verb.scheme, verb.dry_run), done);
}

void VerbRunner::run(const Principal& who, const DecompressBlocks& verb, const VerbDone& done) {
  answer_job(loop_.tiers().order(who, TierVerb::kDecompress, verb.what, {}, verb.dry_run), done);
}

void VerbRunner::answer_job(Result<JobInfo> job, const VerbDone& done) {
  if (!job.ok()) return done->answer(job.error());
  VerbResult result;
  result.blocks = job->blocks_total;
  if (const ResidentModel* model = loop_.models().of(job->node)) result.bytes = result.blocks * model->block_bytes();
  result.detail = job->detail;
  result.job = std::move(job).value();
  loop_.want_snapshot();
  done->answer(std::move(result));
}

void VerbRunner::run(const Principal&, const CancelJob& verb, const VerbDone& done) {
  if (const Status status = loop_.tiers().cancel(verb.job); !status.ok()) return done->answer(status.error());
  loop_.want_snapshot();
  done->answer(VerbResult{});
}

void VerbRunner::run(const Principal&, const LoadModel& verb, const VerbDone& done) {
  const VerbDone job = as_job("load " + verb.path.substr(verb.path.find_last_of('/') + 1), done);
  const bool posted = post_answered<std::string>(
      services_.clerk, services_.inbox,
      [models_dir = services_.models_dir, name = verb.path] { return model_path(models_dir, name); },
      [job](EngineLoop& loop, const Result<std::string>& path) {
        loop.works_for(job);
        if (!path.ok()) return job->answer(path.error());
        loop.models().load(*path, job);
        loop.want_snapshot();
      });
  if (!posted) job->answer(Error{ErrorCode::kResourceExhausted, "too many changes wait already: try again later", ""});
}

void VerbRunner::run(const Principal&, const UnloadModel& verb, const VerbDone& done) {
  loop_.models().unload(verb.model, as_job("unload", done));
  loop_.want_snapshot();
}

void VerbRunner::run(const Principal&, const CreateTenant& verb, const VerbDone& done) {
  on_clerk(
      done,
      [verb, &registry = services_.registry, &settings = services_.settings]() -> Result<VerbResult> {
        const std::int64_t limit = settings.integer(settings::Key::kTenantsMax);
        if (static_cast<std::int64_t>(registry.tenants().size()) >= limit) {
          return Error{ErrorCode::kResourceExhausted,
                       "there are " + std::to_string(limit) + " tenants already (tenants.max): delete one first",
                       "tenants.max"};
        }
        ASSIGN_OR_RETURN(const tenant::TenantRecord made, registry.create_tenant(verb.name, verb.quota_bytes));
        VerbResult result;
        result.tenant = made.id;
        return result;
      },
      [](EngineLoop& loop) {
        loop.models().apply_settings();
        loop.disk().learn_scopes();
      });
}

void VerbRunner::run(const Principal&, const SetTenant& verb, const VerbDone& done) {
  on_clerk(
      done,
      [verb, &registry = services_.registry]() -> Result<VerbResult> {
        RETURN_IF_ERROR(registry.set_foreign(verb.tenant, verb.foreign));
        VerbResult result;
        result.tenant = verb.tenant;
        return result;
      },
      [](EngineLoop& loop) { loop.disk().apply_settings(); });
}

void VerbRunner::erase_tenant(TenantId tenant, const ScopeId& scope) {
  for (const RequestId id : loop_.requests().active_of(tenant)) {
    loop_.cancel(id, Error{ErrorCode::kUnauthorized, "the tenant was deleted", ""});
  }
  loop_.tiers().end_scope(scope, Error{ErrorCode::kUnauthorized, "the tenant was deleted", ""});
  for (const auto& model : loop_.models().all()) model->cache().erase_scope(scope);
  loop_.disk().shred(scope);
  loop_.models().history().forget_scope(scope);
  loop_.entries().forget_tenant(tenant);
  loop_.requests().forget_tenant(tenant);
}

void VerbRunner::run(const Principal&, const DeleteTenant& verb, const VerbDone& done) {
  auto scope = std::make_shared<ScopeId>();
  on_clerk(
      done,
      [verb, scope, &registry = services_.registry]() -> Result<VerbResult> {
        ASSIGN_OR_RETURN(*scope, registry.delete_tenant(verb.tenant));
        return VerbResult{};
      },
      [tenant = verb.tenant, scope](EngineLoop& loop) { loop.verbs().erase_tenant(tenant, *scope); });
}

void VerbRunner::run(const Principal& who, const CreateKey& verb, const VerbDone& done) {
  const TenantId tenant = verb.tenant.value == 0 ? who.tenant : verb.tenant;
  on_clerk(done, [verb, tenant, &registry = services_.registry]() -> Result<VerbResult> {
    ASSIGN_OR_RETURN(tenant::NewKey made, registry.create_key(tenant, verb.label, verb.admin, verb.this_process_only));
    VerbResult result;
    result.key = made.record.id;
    result.tenant = made.record.tenant;
    result.secret = std::move(made.secret);
    return result;
  });
}

void VerbRunner::run(const Principal&, const RevokeKey& verb, const VerbDone& done) {
  on_clerk(done, [verb, &registry = services_.registry]() -> Result<VerbResult> {
    RETURN_IF_ERROR(registry.revoke_key(verb.key));
    return VerbResult{};
  });
}

void VerbRunner::run(const Principal& who, const CancelRequest& verb, const VerbDone& done) {
  const RequestRecord* record = loop_.requests().find(verb.request);
  if (record == nullptr || (!who.admin && record->tenant != who.tenant.value)) {
    return done->answer(
        Error{ErrorCode::kNotFound, "no request " + std::to_string(verb.request.value) + " is running", ""});
  }
  loop_.cancel(verb.request, {});
  loop_.want_snapshot();
  done->answer(VerbResult{});
}

void VerbRunner::run(const Principal&, const SetSetting& verb, const VerbDone& done) {
  if (const Status checked = fits_memory(verb); !checked.ok()) return done->answer(checked.error());
  on_clerk(
      done,
      [verb, &settings = services_.settings]() -> Result<VerbResult> {
        VerbResult result;
        ASSIGN_OR_RETURN(result.restart_needed, settings.set(verb.key, verb.value));
        return result;
      },
      [](EngineLoop& loop) {
        loop.models().apply_settings();
        loop.disk().apply_settings();
        loop.requests().set_record_texts(loop.services().settings.flag(settings::Key::kEngineRecordTexts));
      });
}

// A size that cannot be is not written down. What is no number the settings refuse themselves.
Status VerbRunner::fits_memory(const SetSetting& verb) const {
  std::uint64_t bytes = 0;
  const char* const end = verb.value.data() + verb.value.size();
  const auto [at, failed] = std::from_chars(verb.value.data(), end, bytes);
  if (failed != std::errc() || at != end) return {};
  if (verb.key == "pool.bytes") return loop_.models().may_be(bytes);
  return verb.key == "store.ram_bytes" ? copies_fit(bytes) : Status();
}

Status VerbRunner::copies_fit(std::uint64_t bytes) const {
  const std::uint64_t reachable = services_.read_memory().reachable();
  const std::uint64_t pool = loop_.models().kv_bytes();
  if (bytes <= reachable - std::min(reachable, pool)) return {};
  return Error{ErrorCode::kResourceExhausted,
               "copies in memory of " + std::to_string(bytes) + " bytes do not fit beside a pool of " +
                   std::to_string(pool) + " in the " + std::to_string(reachable) +
                   " bytes that this machine has: choose a smaller one",
               "store.ram_bytes"};
}

// The prefix is computed and kept like any request's; then the pin, if it was asked for.
void VerbRunner::run(const Principal& who, const WarmPack& verb, const VerbDone& done) {
  const entry::Pack* pack = loop_.packs().find(verb.pack);
  if (pack == nullptr) {
    return done->answer(Error{ErrorCode::kNotFound, "there is no pack " + verb.pack.substr(0, 64), ""});
  }
  const ResidentModel* newest = loop_.models().newest();
  if (newest == nullptr) return done->answer(no_model());
  const std::shared_ptr<const LoadedModel> model = newest->loaded();
  const Result<tenant::ScopeChain> scopes = services_.registry.scopes(who.tenant);
  if (!scopes.ok()) return done->answer(scopes.error());
  const VerbDone job = as_job("warm " + pack->id, done);
  const JobId id_of_job = loop_.jobs().all().back().id;
  const auto warm = [job, id_of_job, who, id = pack->id, name = pack->name, pin = verb.pin, model](
                        EngineLoop& loop, const Result<Prepared>& prompt) {
    if (!prompt.ok()) return job->answer(prompt.error());
    if (loop.models().of(model->id) == nullptr) return job->answer(no_model());
    Incoming incoming;
    incoming.id = loop.next_request_id();
    incoming.who = who;
    incoming.request.label = name;
    incoming.model = model;
    incoming.submitted = loop.services().clock.now();
    incoming.report = [=, inbox = loop.services().inbox](const sched::SequenceReport& report) {
      inbox->push_reserved(
          [=](EngineLoop& later) {
            later.works_for(job);
            later.verbs().pack_warmed(who, id, name, pin, report, id_of_job, job);
          });
    };
    loop.services().waiting.fetch_add(1);
    loop.begin_prepared(std::move(incoming), *prompt);
  };
  const bool posted = post_answered<Prepared>(
      services_.preparation, services_.inbox,
      [model, prompt = pack_prompt(*pack), scope = scopes->back(), &clock = services_.clock] {
        return prepare_warm(*model, prompt, scope, clock);
      },
      [warm, job](EngineLoop& loop, const Result<Prepared>& prepared) {
        loop.works_for(job);
        warm(loop, prepared);
      });
  if (!posted) job->answer(Error{ErrorCode::kResourceExhausted, "too many prompts wait already: try again later", ""});
}

void VerbRunner::promise_run(JobId job, const std::string& what, NodeId end) {
  const ResidentModel* model = loop_.models().of(end);
  if (model == nullptr) return;
  const kv::PrefixCache& cache = model->cache();
  const Result<std::vector<NodeId>> path = cache.select({end, true});
  std::vector<kv::ChainKey> run;
  for (const NodeId node : path.ok() ? *path : std::vector<NodeId>{}) {
    const kv::BlockFacts block = cache.facts(node);
    if (block.sealed && block.valid == kernels::kBlockTokens) run.push_back(block.key);
  }
  loop_.promises().promise_run(job, model->id(), what, std::move(run));
}

void VerbRunner::pack_warmed(const Principal& who, const std::string& id, const std::string& name, bool pin,
                             const sched::SequenceReport& report, JobId id_of_job, const VerbDone& job) {
  if (!report.status.ok()) return job->answer(report.status.error());
  if (report.end_node.value == 0) {
    return job->answer(Error{ErrorCode::kResourceExhausted, "the pack found no room in the pool", id});
  }
  const ResidentModel* model = loop_.models().of(report.end_node);
  if (model == nullptr) return job->answer(no_model());
  loop_.packs().set_node(model->id(), id, report.end_node);
  loop_.packs().set_tokens(model->id(), id, report.verdict.prompt_tokens);
  promise_run(id_of_job, "pack " + id, report.end_node);
  if (pin) {
    PinNode verb;
    verb.node = report.end_node;
    verb.reason = "pack " + name;
    return run(who, verb, job);
  }
  VerbResult result;
  result.tokens = report.verdict.prompt_tokens;
  loop_.want_snapshot();
  job->answer(std::move(result));
}

}  // namespace larder::engine
