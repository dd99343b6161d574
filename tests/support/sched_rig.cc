// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sched_rig.h"

#include "runtime/model/model.h"
#include "storage/placement.h"

namespace larder::test {
namespace {

model::ModelConfig small_config(std::uint32_t n_layers) {
  model::ModelConfig config;
  config.architecture = "fake";
  config.n_layers = n_layers;
  config.n_kv_heads = 1;
  config.d_head = 4;
  config.n_vocab = 64;
  config.n_context = 1 << 20;
  return config;
}

}  // namespace

SchedRig::SchedRig(RigOptions options)
    : config_(options.cpu_model ? options.cpu_model->config() : small_config(options.n_layers)),
      knobs_(std::make_shared<FakeDeviceKnobs>()) {
  exec::ExecutorOptions executor;
  executor.block_count = options.blocks;
  executor.threads = 2;
  exec::StepDone done = [this](exec::StepResult result) {
    done_.push_reserved(std::make_shared<exec::StepResult>(std::move(result)));
  };
  if (options.cpu_model) {
    executor_ = std::move(exec::make_cpu_executor(options.cpu_model, executor, std::move(done))).value();
  } else {
    executor_ = std::make_unique<FakeDevice>(config_, executor, options.fake, knobs_, std::move(done));
  }
  kv::CacheOptions cache;
  cache.block_count = options.blocks;
  cache.longest_request_blocks = options.longest_request_blocks;
  cache.pin_budget_blocks = options.pin_budget_blocks;
  cache.clock = &clock_;
  cache.history = &history_;
  cache_ = std::make_unique<kv::PrefixCache>(std::move(cache), std::make_unique<storage::LeafLru>());
  options.limits.plan.n_layers = config_.n_layers;
  scheduler_ = std::make_unique<sched::Scheduler>(*cache_, *this, clock_, options.limits);
  auto identity = std::make_shared<kv::Identity>();
  identity->arithmetic_id = executor_->info().arithmetic_id;
  identity_ = std::move(identity);
}

SchedRig::~SchedRig() {
  executor_.reset();
  scheduler_.reset();
}

tenant::Scope SchedRig::scope_of(std::uint32_t tenant) {
  tenant::Scope& scope = scopes_[tenant];
  if (!scope) {
    ScopeId id{};
    ScopeSecret secret{};
    id[0] = static_cast<std::uint8_t>(tenant);
    secret[0] = static_cast<std::uint8_t>(tenant);
    scope = std::make_shared<tenant::ScopeKeyMaterial>(id, secret);
  }
  return scope;
}

sched::SequenceSpec SchedRig::spec(std::vector<Token> prompt, std::uint32_t draw, std::uint32_t tenant) {
  auto sampling = std::make_shared<sample::SamplingParams>();
  sampling->temperature = 0;
  sampling->logprobs = true;
  sched::SequenceSpec spec;
  spec.seq = SeqId{next_seq_++};
  spec.request = RequestId{spec.seq.value};
  spec.tenant = TenantId{tenant};
  spec.keys = std::make_shared<kv::PromptKeys>(kv::chain_keys(scope_of(tenant), identity_, "", prompt));
  auto prepared = std::make_shared<PreparedPrompt>();
  prepared->sections.push_back({SectionKind::kMessage, "prompt", 0, 0, 0, static_cast<std::uint32_t>(prompt.size())});
  prepared->tokens = std::move(prompt);
  spec.prompt = std::move(prepared);
  spec.sampling = std::move(sampling);
  spec.max_new_tokens = draw;
  spec.want_logits = true;
  return spec;
}

SeqId SchedRig::add(sched::SequenceSpec spec) {
  const SeqId seq = spec.seq;
  const Status added = scheduler_->add(std::move(spec));
  INVARIANT(added.ok());
  return seq;
}

void SchedRig::cancel(SeqId seq) {
  if (scheduler_->cancel(seq)) executor_->abort(scheduler_->running_step());
}

bool SchedRig::begin_step() {
  std::optional<exec::Step> next = scheduler_->next_step();
  if (!next) return false;
  submit(std::move(*next));
  return true;
}

void SchedRig::submit(exec::Step step) {
  last_step_ = step;
  executor_->submit(std::move(step));
}

void SchedRig::finish() { scheduler_->finish_step(take_result()); }

exec::StepResult SchedRig::take_result() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  auto result = done_.pop_until(deadline);
  INVARIANT(result.has_value());
  last_compute_ns_ = (*result)->compute_ns;
  return std::move(**result);
}

bool SchedRig::wait_done() const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (done_.size() == 0) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

bool SchedRig::step() {
  if (!begin_step()) return false;
  finish();
  return true;
}

void SchedRig::run() {
  while (step()) {
  }
}

std::uint64_t SchedRig::rows() const {
  const sched::SchedulerCounts counts = scheduler_->counts();
  return counts.prefill_rows + counts.decode_rows;
}

void SchedRig::started(SeqId seq, const kv::Verdict& verdict, double) { results_[seq].started = verdict; }

bool SchedRig::token(SeqId seq, const exec::SequenceOutput& output) {
  RigResult& result = results_[seq];
  result.tokens.push_back(output.sampled.token);
  result.logits.push_back(output.logits);
  result.token_steps.push_back(last_step_.id);
  return true;
}

void SchedRig::scored(SeqId seq, const std::vector<sample::Sampled>& scores) {
  RigResult& result = results_[seq];
  result.scores.insert(result.scores.end(), scores.begin(), scores.end());
}

void SchedRig::ended(SeqId seq, sched::SequenceReport report) noexcept {
  RigResult& result = results_[seq];
  INVARIANT(!result.ended);
  result.ended = true;
  result.report = std::move(report);
}

}  // namespace larder::test
