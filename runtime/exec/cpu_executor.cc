// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/cpu_executor.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "runtime/base/clock.h"
#include "runtime/base/invariant.h"
#include "runtime/base/out_of_memory.h"
#include "runtime/exec/packed_weights.h"
#include "runtime/model/forward.h"

namespace larder::exec {
namespace {

std::uint32_t default_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  const auto cores = static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&allowed)));
  return cores > 2 ? cores - 1 : cores;
}

Result<kernels::IsaRequest> parse_isa(const std::string& name) {
  if (name == "auto") return kernels::IsaRequest::kAuto;
  if (name == "portable") return kernels::IsaRequest::kPortable;
  if (name == "avx2") return kernels::IsaRequest::kAvx2;
  if (name == "avx512") return kernels::IsaRequest::kAvx512;
  return Error{ErrorCode::kInvalidArgument,
               "isa \"" + name.substr(0, 32) + "\" is unknown; use auto, portable, avx2 or avx512", ""};
}

// The int8 kernels that the options ask for; null where products keep activations as f32.
Result<const kernels::Int8Kernels*> choose_int8(const std::string& arithmetic, kernels::IsaRequest isa) {
  if (arithmetic == "precise") return static_cast<const kernels::Int8Kernels*>(nullptr);
  if (arithmetic != "auto" && arithmetic != "int8") {
    return Error{ErrorCode::kInvalidArgument,
                 "arithmetic \"" + arithmetic.substr(0, 32) + "\" is unknown; use auto, precise or int8", ""};
  }
  const kernels::Int8Kernels* const int8 = kernels::select_int8_kernels(isa);
  if (int8 == nullptr && arithmetic == "int8") {
    return Error{ErrorCode::kUnsupported, "this processor has no int8 products in this tier; use arithmetic auto", ""};
  }
  return int8;
}

Error bad_step(const std::string& what) { return Error{ErrorCode::kInvalidArgument, "step refused: " + what, ""}; }

Error aborted_step() { return Error{ErrorCode::kCancelled, "the step was aborted", ""}; }

bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000u;  // all ones: infinity or NaN
  std::uint32_t broken = 0;
  for (const float value : values) broken |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1u : 0u;
  return broken == 0;
}

}  // namespace

Result<std::unique_ptr<Executor>> make_cpu_executor(std::shared_ptr<const model::Model> model,
                                                    const ExecutorOptions& options, StepDone done) {
  ASSIGN_OR_RETURN(const kernels::IsaRequest isa, parse_isa(options.isa));
  const kernels::KernelSet* const kernels = kernels::select_kernels(isa);
  if (kernels == nullptr) {
    return Error{ErrorCode::kUnsupported, "this processor has no " + options.isa + "; use isa auto", ""};
  }
  ASSIGN_OR_RETURN(const kernels::Int8Kernels* const int8, choose_int8(options.arithmetic, isa));
  return CpuExecutor::create(std::move(model), options, *kernels, int8, std::move(done));
}

Result<std::unique_ptr<Executor>> CpuExecutor::create(std::shared_ptr<const model::Model> model,
                                                      const ExecutorOptions& options,
                                                      const kernels::KernelSet& kernels,
                                                      const kernels::Int8Kernels* int8, StepDone done) {
  if (options.max_rows == 0) return Error{ErrorCode::kInvalidArgument, "max_rows is 0, expected at least 1", ""};
  const std::uint32_t threads = options.threads == 0 ? default_threads() : options.threads;
  if (threads > 1024) {
    return Error{ErrorCode::kInvalidArgument, std::to_string(threads) + " threads, expected at most 1024", ""};
  }
  ASSIGN_OR_RETURN(BlockArena arena,
                   BlockArena::create(model->config().kv_layout(options.kv_type), options.block_count,
                                      options.most_blocks));
  std::unique_ptr<CpuExecutor> executor(
      new CpuExecutor(std::move(model), kernels, int8, options, threads, std::move(arena), std::move(done)));
  ASSIGN_OR_RETURN(executor->device_,
                   CpuDevice::create(*executor->model_, {kernels, int8, executor->packed_.get()}, options.max_rows,
                                     executor->arena_, executor->pool_));
  executor->driver_ = std::thread([driven = executor.get()] { driven->drive(); });
  return std::unique_ptr<Executor>(std::move(executor));
}

CpuExecutor::CpuExecutor(std::shared_ptr<const model::Model> model, const kernels::KernelSet& kernels,
                         const kernels::Int8Kernels* int8, const ExecutorOptions& options, std::uint32_t threads,
                         BlockArena arena, StepDone done)
    : model_(std::move(model)),
      done_(std::move(done)),
      max_rows_(options.max_rows),
      arena_(std::move(arena)),
      pool_(threads),
      sample_scratch_(threads) {
  info_.device = "cpu";
  info_.description = kernels::processor_name();
  info_.arithmetic_id = std::string("cpu/") + kernels.name + "/" + std::to_string(kernels.version);
  if (int8 == nullptr) return;
  info_.arithmetic_id += "/int8/" + std::to_string(int8->version);
  if (options.pack_weights) packed_ = std::make_unique<PackedWeights>(model_, *int8);
}

CpuExecutor::~CpuExecutor() {
  {
    MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (driver_.joinable()) driver_.join();
}

void CpuExecutor::submit(Step step) {
  auto pending = std::make_unique<Pending>();
  pending->step = std::move(step);
  {
    MutexLock lock(mutex_);
    INVARIANT(pending_.size() < kMaxPendingSteps);
    pending_.push_back(std::move(pending));
  }
  changed_.notify_one();
}

void CpuExecutor::abort(std::uint64_t step_id) {
  MutexLock lock(mutex_);
  for (const std::unique_ptr<Pending>& pending : pending_) {
    if (pending->step.id == step_id) pending->aborted.store(true, std::memory_order_relaxed);
  }
}

Status CpuExecutor::check_transfer(BlockId block, std::size_t bytes) const {
  if (!arena_.holds(block)) return bad_step("block " + std::to_string(block.value) + " does not exist");
  if (bytes != arena_.layout().block_bytes()) {
    return bad_step("a block has " + std::to_string(arena_.layout().block_bytes()) + " bytes, the buffer " +
                    std::to_string(bytes));
  }
  return {};
}

Status CpuExecutor::read_block(BlockId block, std::span<std::byte> out) const {
  RETURN_IF_ERROR(check_transfer(block, out.size()));
  std::memcpy(out.data(), arena_.block(block), out.size());
  return {};
}

Status CpuExecutor::write_block(BlockId block, std::span<const std::byte> bytes) {
  RETURN_IF_ERROR(check_transfer(block, bytes.size()));
  std::memcpy(arena_.block(block), bytes.data(), bytes.size());
  return {};
}

std::span<std::byte> CpuExecutor::host_memory(BlockId block) {
  if (!arena_.holds(block)) return {};
  return {arena_.block(block), arena_.layout().block_bytes()};
}

CpuExecutor::Pending* CpuExecutor::next() {
  MutexLock lock(mutex_);
  while (pending_.empty() && !closing_) changed_.wait(mutex_);
  if (pending_.empty()) return nullptr;
  if (closing_) pending_.front()->aborted.store(true, std::memory_order_relaxed);
  return pending_.front().get();
}

void CpuExecutor::drive() {
  while (Pending* const pending = next()) {
    StepResult result;
    if (!had_memory([&] { result = run(*pending); })) {
      result = StepResult();
      result.id = pending->step.id;
      result.status = out_of_memory();
    }
    {
      MutexLock lock(mutex_);
      pending_.pop_front();
    }
    done_(std::move(result));
  }
}

StepResult CpuExecutor::run(Pending& pending) {
  const SystemClock clock;
  const Ticks begin = clock.now();
  StepResult result;
  result.id = pending.step.id;
  result.status = check(pending.step);
  if (result.status.ok() && pending.aborted.load(std::memory_order_relaxed)) result.status = aborted_step();
  if (result.status.ok()) result.status = compute(pending.step, pending.aborted, result);
  if (!result.status.ok()) {
    result.outputs.clear();
    result.seal_checksums.clear();
  }
  result.compute_ns = clock.now() - begin;
  return result;
}

Status CpuExecutor::check_rows(const SequenceRows& rows) const {
  const model::ModelConfig& config = model_->config();
  const std::uint64_t end = std::uint64_t{rows.first_position} + rows.tokens.size();
  if (rows.tokens.empty()) return bad_step("a sequence without rows");
  if (end > config.n_context) {
    return bad_step("position " + std::to_string(end - 1) + " lies past the model's context of " +
                    std::to_string(config.n_context));
  }
  if (rows.block_table.size() < (end + kernels::kBlockTokens - 1) / kernels::kBlockTokens) {
    return bad_step(std::to_string(rows.block_table.size()) + " blocks for " + std::to_string(end) + " positions");
  }
  for (const BlockId block : rows.block_table) {
    if (!arena_.holds(block)) return bad_step("block " + std::to_string(block.value) + " does not exist");
  }
  for (const Token token : rows.tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config.n_vocab) {
      return bad_step("token " + std::to_string(token) + " is not in the vocabulary of " +
                      std::to_string(config.n_vocab));
    }
  }
  if (rows.output != OutputKind::kNone && rows.sampling.params == nullptr) {
    return bad_step("sampling without parameters");
  }
  if (rows.output == OutputKind::kLogProbs) {
    if (rows.sampling.forced_next.size() + 1 < rows.tokens.size()) return bad_step("scoring without the next tokens");
    for (const Token token : rows.sampling.forced_next) {
      if (token < 0 || static_cast<std::uint32_t>(token) >= config.n_vocab) {
        return bad_step("scored token " + std::to_string(token) + " is not in the vocabulary");
      }
    }
  }
  return {};
}

Status CpuExecutor::check(const Step& step) const {
  if (step.layer_begin > step.layer_end || step.layer_end > model_->config().n_layers) {
    return bad_step("layers " + std::to_string(step.layer_begin) + " to " + std::to_string(step.layer_end) + " of " +
                    std::to_string(model_->config().n_layers));
  }
  if (step.hidden_slot >= kHiddenSlots) return bad_step("hidden slot " + std::to_string(step.hidden_slot));
  std::uint64_t rows = 0;
  for (const SequenceRows& sequence : step.sequences) {
    RETURN_IF_ERROR(check_rows(sequence));
    rows += sequence.tokens.size();
  }
  if (rows > max_rows_) {
    return bad_step(std::to_string(rows) + " rows, at most " + std::to_string(max_rows_));
  }
  for (const BlockCopy& copy : step.copies) {
    const bool from_fits = copy.valid_tokens == 0 || (arena_.holds(copy.from) && copy.from != copy.to);
    if (!arena_.holds(copy.to) || !from_fits || copy.valid_tokens > kernels::kBlockTokens) {
      return bad_step("a copy of " + std::to_string(copy.valid_tokens) + " tokens from block " +
                      std::to_string(copy.from.value) + " to " + std::to_string(copy.to.value));
    }
  }
  for (const BlockId block : step.seals) {
    if (!arena_.holds(block)) return bad_step("block " + std::to_string(block.value) + " does not exist");
  }
  return {};
}

void CpuExecutor::run_copies(std::span<const BlockCopy> copies) {
  std::vector<BlockId> written;
  for (const BlockCopy& copy : copies) written.push_back(copy.to);
  std::sort(written.begin(), written.end());
  bool independent = std::adjacent_find(written.begin(), written.end()) == written.end();
  for (const BlockCopy& copy : copies) {
    const bool reads_written = std::binary_search(written.begin(), written.end(), copy.from);
    independent = independent && (copy.valid_tokens == 0 || !reads_written);
  }
  if (independent) {
    pool_.for_each(static_cast<std::uint32_t>(copies.size()),
                   [&](std::uint32_t item, std::uint32_t) { arena_.copy(copies[item]); });
  } else {
    for (const BlockCopy& copy : copies) arena_.copy(copy);
  }
}

Status CpuExecutor::compute(const Step& step, const std::atomic<bool>& aborted, StepResult& result) {
  run_copies(step.copies);
  if (!step.sequences.empty()) {
    sequences_.clear();
    std::uint32_t row = 0;
    for (const SequenceRows& rows : step.sequences) {
      const auto count = static_cast<std::uint32_t>(rows.tokens.size());
      sequences_.push_back({row, count, rows.first_position, rows.block_table, rows.tokens});
      row += count;
    }
    const model::Batch batch{sequences_, row, step.hidden_slot};
    if (!model::forward(model_->weights(), {step.layer_begin, step.layer_end}, batch, aborted, *device_)) {
      return aborted_step();
    }
    if (step.layer_end == model_->config().n_layers) RETURN_IF_ERROR(give_outputs(step, aborted, result));
  }
  result.seal_checksums.resize(step.seals.size());
  pool_.for_each(static_cast<std::uint32_t>(step.seals.size()), [&](std::uint32_t item, std::uint32_t) {
    result.seal_checksums[item] = arena_.checksum(step.seals[item]);
  });
  return {};
}

std::vector<CpuExecutor::OutputRow> CpuExecutor::output_rows(const Step& step) const {
  std::vector<OutputRow> rows;
  for (std::uint32_t s = 0; s < step.sequences.size(); ++s) {
    const SequenceRows& sequence = step.sequences[s];
    const model::BatchSequence& placed = sequences_[s];
    if (sequence.output == OutputKind::kLogProbs) {
      for (std::uint32_t r = 0; r + 1 < placed.rows; ++r) rows.push_back({s, placed.row_begin + r, r, false});
    }
    if (sequence.output != OutputKind::kNone || sequence.want_logits) {
      rows.push_back({s, placed.row_begin + placed.rows - 1, 0, true});
    }
  }
  return rows;
}

Status CpuExecutor::give_outputs(const Step& step, const std::atomic<bool>& aborted, StepResult& result) {
  result.outputs.resize(step.sequences.size());
  for (std::size_t s = 0; s < step.sequences.size(); ++s) {
    result.outputs[s].seq = step.sequences[s].seq;
    const bool scored = step.sequences[s].output == OutputKind::kLogProbs;
    if (scored) result.outputs[s].scored.resize(step.sequences[s].tokens.size() - 1);
  }
  const std::vector<OutputRow> wanted = output_rows(step);
  const model::Weights& weights = model_->weights();
  std::vector<std::uint32_t> rows;
  for (std::size_t begin = 0; begin < wanted.size(); begin += rows.size()) {
    if (aborted.load(std::memory_order_relaxed)) return aborted_step();
    rows.clear();
    for (std::size_t i = begin; i < wanted.size() && rows.size() < device_->max_logit_rows(); ++i) {
      rows.push_back(wanted[i].row);
    }
    device_->logits(weights.output_norm, weights.output, rows);
    std::atomic<bool> finite{true};
    std::atomic<bool> memory{true};
    pool_.for_each(static_cast<std::uint32_t>(rows.size()), [&](std::uint32_t item, std::uint32_t worker) {
      bool given = false;
      // Nothing may leave an item but by its end.
      if (!had_memory([&] { given = give_output(step, wanted[begin + item], item, worker, result); })) {
        memory.store(false, std::memory_order_relaxed);
      } else if (!given) {
        finite.store(false, std::memory_order_relaxed);
      }
    });
    if (!memory.load(std::memory_order_relaxed)) return out_of_memory();
    if (!finite.load(std::memory_order_relaxed)) {
      return Error{ErrorCode::kCorrupt, "the model computed logits that are no numbers; its file is damaged",
                   model_->path()};
    }
  }
  return {};
}

bool CpuExecutor::give_output(const Step& step, const OutputRow& row, std::uint32_t logit_row, std::uint32_t worker,
                              StepResult& result) {
  const std::span<const float> logits = device_->logit_row(logit_row);
  if (!all_finite(logits)) return false;
  const SequenceRows& sequence = step.sequences[row.sequence];
  SequenceOutput& output = result.outputs[row.sequence];
  if (!row.last) {
    output.scored[row.scored] = sample::score(logits, sequence.sampling.forced_next[row.scored],
                                              sequence.sampling.params->top_logprobs);
    return true;
  }
  if (sequence.output != OutputKind::kNone) {
    output.sampled = sample::draw(logits, sequence.sampling, sample_scratch_[worker]);
  }
  if (sequence.want_logits) output.logits.assign(logits.begin(), logits.end());
  return true;
}

}  // namespace larder::exec
