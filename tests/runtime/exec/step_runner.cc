// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/exec/step_runner.h"

#include <cstdio>
#include <cstdlib>

#include "runtime/exec/cpu_executor.h"

namespace larder::test {
namespace {

[[noreturn]] void die(const Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  std::abort();
}

std::shared_ptr<const sample::SamplingParams> greedy() {
  auto params = std::make_shared<sample::SamplingParams>();
  params->temperature = 0;
  return params;
}

}  // namespace

std::shared_ptr<const model::Model> load_or_die(const std::string& path) {
  auto model = model::Model::load(path, {});
  if (!model.ok()) die(model.error());
  return std::move(model).value();
}

StepRunner::StepRunner(std::shared_ptr<const model::Model> model, exec::ExecutorOptions options)
    : model_(std::move(model)) {
  auto made = exec::make_cpu_executor(model_, options,
                                      [this](exec::StepResult result) { completed(std::move(result)); });
  if (!made.ok()) die(made.error());
  executor_ = std::move(made).value();
}

StepRunner::StepRunner(std::shared_ptr<const model::Model> model, exec::ExecutorOptions options,
                       const kernels::KernelSet& kernels, const kernels::Int8Kernels* int8)
    : model_(std::move(model)) {
  auto made = exec::CpuExecutor::create(model_, options, kernels, int8,
                                        [this](exec::StepResult result) { completed(std::move(result)); });
  if (!made.ok()) die(made.error());
  executor_ = std::move(made).value();
}

void StepRunner::completed(exec::StepResult result) {
  {
    MutexLock lock(mutex_);
    const std::uint64_t id = result.id;
    results_.emplace(id, std::move(result));
  }
  arrived_.notify_all();
}

Lane StepRunner::open_lane(std::uint32_t tokens) {
  Lane lane;
  lane.seq = SeqId{next_seq_++};
  for (std::uint32_t at = 0; at < tokens; at += kernels::kBlockTokens) lane.table.push_back(BlockId{next_block_++});
  return lane;
}

exec::SequenceRows StepRunner::rows(Lane& lane, std::span<const Token> tokens) const {
  exec::SequenceRows rows;
  rows.seq = lane.seq;
  rows.block_table = lane.table;
  rows.first_position = lane.position;
  rows.tokens.assign(tokens.begin(), tokens.end());
  rows.output = exec::OutputKind::kSample;
  rows.want_logits = true;
  rows.sampling.params = greedy();
  lane.position += static_cast<std::uint32_t>(tokens.size());
  return rows;
}

exec::Step StepRunner::step(std::vector<exec::SequenceRows> sequences) {
  exec::Step step;
  step.id = next_step_++;
  step.sequences = std::move(sequences);
  step.layer_end = n_layers();
  return step;
}

exec::StepResult StepRunner::run(exec::Step step) {
  const std::uint64_t id = step.id;
  executor_->submit(std::move(step));
  MutexLock lock(mutex_);
  while (results_.count(id) == 0) arrived_.wait(mutex_);
  exec::StepResult result = std::move(results_.at(id));
  results_.erase(id);
  return result;
}

exec::SequenceOutput StepRunner::feed(Lane& lane, std::span<const Token> tokens, std::uint32_t chunk) {
  exec::SequenceOutput last;
  while (!tokens.empty()) {
    const std::size_t count = std::min<std::size_t>(chunk, tokens.size());
    exec::StepResult result = run(step({rows(lane, tokens.first(count))}));
    if (!result.status.ok()) die(result.status.error());
    last = std::move(result.outputs.at(0));
    tokens = tokens.subspan(count);
  }
  return last;
}

std::vector<std::byte> StepRunner::block_bytes(BlockId block) {
  std::vector<std::byte> bytes(executor_->layout().block_bytes());
  const Status read = executor_->read_block(block, bytes);
  if (!read.ok()) die(read.error());
  return bytes;
}

}  // namespace larder::test
