// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

#include "kernels/layout/checksum.h"

namespace larder::test {

using std::chrono::microseconds;
using std::chrono::steady_clock;

void FakeDeviceKnobs::hold() {
  MutexLock lock(mutex_);
  held_ = true;
  passes_ = 0;
}

void FakeDeviceKnobs::release() {
  MutexLock lock(mutex_);
  held_ = false;
  changed_.notify_all();
}

bool FakeDeviceKnobs::wait_held(std::int64_t wait_ms) {
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(wait_ms);
  MutexLock lock(mutex_);
  while (!(standing_ && passes_ == 0)) {
    if (!changed_.wait_until(mutex_, deadline)) return standing_ && passes_ == 0;
  }
  return true;
}

void FakeDeviceKnobs::let_through(std::uint32_t steps) {
  MutexLock lock(mutex_);
  passes_ += steps;
  changed_.notify_all();
}

void FakeDeviceKnobs::fail_when(std::function<Status(const exec::Step&)> rule) {
  MutexLock lock(mutex_);
  fail_rule_ = std::move(rule);
}

void FakeDeviceKnobs::set_costs(std::function<std::int64_t(const exec::Step&)> cost) {
  MutexLock lock(mutex_);
  cost_ = std::move(cost);
}

void FakeDeviceKnobs::spoil_reads(std::function<void(BlockId, std::span<std::byte>)> fault) {
  MutexLock lock(mutex_);
  read_fault_ = std::move(fault);
}

void FakeDeviceKnobs::watch(std::function<void(const exec::Step&)> watcher) {
  MutexLock lock(mutex_);
  watcher_ = std::move(watcher);
}

void FakeDeviceKnobs::set_delays(std::int64_t step_us, std::int64_t row_us, std::int64_t random_us) {
  MutexLock lock(mutex_);
  step_us_ = step_us;
  row_us_ = row_us;
  random_us_ = random_us;
}

std::uint64_t FakeDeviceKnobs::rows() const {
  MutexLock lock(mutex_);
  return rows_;
}

std::uint64_t FakeDeviceKnobs::steps() const {
  MutexLock lock(mutex_);
  return steps_;
}

void FakeDeviceKnobs::lose_hand_overs(std::uint32_t every) {
  MutexLock lock(mutex_);
  lose_every_ = every;
}

bool FakeDeviceKnobs::loses_this() {
  MutexLock lock(mutex_);
  if (lose_every_ == 0 || ++hand_overs_ % lose_every_ != 0) return false;
  ++lost_hand_overs_;
  return true;
}

std::uint64_t FakeDeviceKnobs::lost_hand_overs() const {
  MutexLock lock(mutex_);
  return lost_hand_overs_;
}

std::uint64_t FakeDeviceKnobs::copied_tokens() const {
  MutexLock lock(mutex_);
  return copied_tokens_;
}

std::vector<std::string> FakeDeviceKnobs::violations() const {
  MutexLock lock(mutex_);
  return violations_;
}

namespace {

std::uint64_t digest_of_rows(const exec::Step& step) {
  std::uint64_t digest = 0;
  for (const exec::SequenceRows& rows : step.sequences) {
    digest = mix64(digest ^ rows.seq.value);
    digest = mix64(digest ^ rows.first_position);
    for (const Token token : rows.tokens) digest = mix64(digest ^ static_cast<std::uint64_t>(token));
  }
  return digest;
}

}  // namespace

FakeDevice::FakeDevice(model::ModelConfig config, exec::ExecutorOptions options, FakeDeviceOptions fake,
                       std::shared_ptr<FakeDeviceKnobs> knobs, exec::StepDone done)
    : config_(std::move(config)),
      fake_(fake),
      knobs_(std::move(knobs)),
      done_(std::move(done)),
      layout_(config_.kv_layout(options.kv_type)),
      info_{"fake", "a device without arithmetic", fake.arithmetic_id},
      most_blocks_(std::max(options.block_count, options.most_blocks)),
      garbage_(fake.seed, 77),
      rows_digest_(exec::kHiddenSlots),
      rng_(fake.seed) {
  INVARIANT(layout_.d_head * kernels::kv_element_bytes(layout_.type) >= sizeof(std::uint64_t));
  Result<exec::MappedMemory> arena = exec::MappedMemory::map(most_blocks_ * layout_.block_bytes(), "the fake pool");
  INVARIANT(arena.ok());
  arena_ = std::move(arena).value();
  INVARIANT(grow(options.block_count).ok());
  if (fake.step_delay_us + fake.row_delay_us + fake.random_delay_us > 0) {
    knobs_->set_delays(fake.step_delay_us, fake.row_delay_us, fake.random_delay_us);
  }
  thread_ = std::thread([this] { run(); });
}

FakeDevice::~FakeDevice() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  knobs_->release();
  changed_.notify_all();
  thread_.join();
}

// Garbage, as a device's memory may hold: whoever reads a block that nobody wrote or zeroed gets another answer.
void FakeDevice::spoil(BlockId block) {
  std::byte* const bytes = arena_.data() + block.value * layout_.block_bytes();
  for (std::size_t at = 0; at + 8 <= layout_.block_bytes(); at += 8) {
    const std::uint64_t word = garbage_.next();
    std::memcpy(bytes + at, &word, sizeof word);
  }
}

Status FakeDevice::grow(std::uint32_t block_count) {
  if (block_count > most_blocks_) {
    return Error{ErrorCode::kResourceExhausted,
                 "the fake device has " + std::to_string(most_blocks_) + " blocks, not " + std::to_string(block_count),
                 ""};
  }
  for (; block_count_ < block_count; ++block_count_) spoil(BlockId{block_count_});
  return {};
}

void FakeDevice::release_blocks(std::span<const BlockId> blocks) {
  for (const BlockId block : blocks) spoil(block);
}

void FakeDevice::submit(exec::Step step) {
  if (knobs_->loses_this()) throw std::bad_alloc();
  {
    MutexLock lock(mutex_);
    queue_.push_back(std::move(step));
  }
  changed_.notify_all();
}

void FakeDevice::abort(std::uint64_t step_id) {
  MutexLock lock(mutex_);
  aborted_.insert(step_id);
  changed_.notify_all();
}

bool FakeDevice::aborted(std::uint64_t step_id) const {
  MutexLock lock(mutex_);
  return stopping_ || aborted_.count(step_id) != 0;
}

Status FakeDevice::read_block(BlockId block, std::span<std::byte> out) const {
  if (block.value >= most_blocks_ || out.size() < layout_.block_bytes()) {
    return Error{ErrorCode::kInvalidArgument, "no block " + std::to_string(block.value), ""};
  }
  std::memcpy(out.data(), arena_.data() + block.value * layout_.block_bytes(), layout_.block_bytes());
  MutexLock lock(knobs_->mutex_);
  if (knobs_->read_fault_) knobs_->read_fault_(block, out);
  return {};
}

Status FakeDevice::write_block(BlockId block, std::span<const std::byte> bytes) {
  if (block.value >= most_blocks_ || bytes.size() != layout_.block_bytes()) {
    return Error{ErrorCode::kInvalidArgument, "no block " + std::to_string(block.value) + " of that size", ""};
  }
  std::memcpy(arena_.data() + block.value * layout_.block_bytes(), bytes.data(), bytes.size());
  return {};
}

void FakeDevice::run() {
  while (true) {
    exec::Step step;
    {
      MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) changed_.wait(mutex_);
      if (queue_.empty()) return;
      step = std::move(queue_.front());
      queue_.pop_front();
    }
    exec::StepResult result;
    if (wait_turn(step)) {
      result = execute(step);
    } else {
      result.status = Error{ErrorCode::kCancelled, "the device is closing", ""};
    }
    result.id = step.id;
    {
      MutexLock lock(mutex_);
      aborted_.erase(step.id);
    }
    done_(std::move(result));
  }
}

bool FakeDevice::wait_turn(const exec::Step& step) {
  {
    MutexLock lock(knobs_->mutex_);
    while (knobs_->held_ && knobs_->passes_ == 0) {
      knobs_->standing_ = true;
      knobs_->changed_.notify_all();
      knobs_->changed_.wait(knobs_->mutex_);
    }
    knobs_->standing_ = false;
    if (knobs_->passes_ > 0) --knobs_->passes_;
    ++knobs_->steps_;
    if (knobs_->watcher_) knobs_->watcher_(step);
  }
  MutexLock lock(mutex_);
  return !stopping_;
}

void FakeDevice::wait_delay(const exec::Step& step) {
  std::int64_t us = 0;
  {
    MutexLock lock(knobs_->mutex_);
    us = knobs_->step_us_ +
         knobs_->row_us_ * step.row_count() * (step.layer_end - step.layer_begin) / std::max(1u, config_.n_layers);
    if (knobs_->random_us_ > 0) {
      us += static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(knobs_->random_us_)));
    }
  }
  if (us == 0) return;
  const auto deadline = steady_clock::now() + microseconds(us);
  MutexLock lock(mutex_);
  while (!stopping_ && aborted_.count(step.id) == 0) {
    if (!changed_.wait_until(mutex_, deadline)) return;
  }
}

exec::StepResult FakeDevice::execute(const exec::Step& step) {
  exec::StepResult result;
  const auto begun = steady_clock::now();
  for (const exec::BlockCopy& copy : step.copies) copy_block(copy);
  result.status = run_layers(step);
  wait_delay(step);
  if (result.status.ok() && aborted(step.id)) result.status = Error{ErrorCode::kCancelled, "aborted", ""};
  std::function<Status(const exec::Step&)> rule;
  {
    MutexLock lock(knobs_->mutex_);
    rule = knobs_->fail_rule_;
  }
  if (result.status.ok() && rule) result.status = rule(step);
  if (result.status.ok()) {
    if (step.layer_end == config_.n_layers) write_outputs(step, result);
    for (const BlockId block : step.seals) {
      result.seal_checksums.push_back(
          kernels::block_checksum(layout_, arena_.data() + block.value * layout_.block_bytes()));
    }
  }
  result.compute_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - begun).count();
  MutexLock lock(knobs_->mutex_);
  if (knobs_->cost_) result.compute_ns = knobs_->cost_(step);
  return result;
}

void FakeDevice::copy_block(const exec::BlockCopy& copy) {
  if (copy.to.value >= most_blocks_ ||
      (copy.valid_tokens > 0 && (copy.from.value >= most_blocks_ || copy.from == copy.to))) {
    violation("copy between blocks that do not exist");
    return;
  }
  const std::size_t bytes = layout_.block_bytes();
  std::vector<std::byte> fresh(bytes);
  std::vector<std::uint64_t> values;
  for (std::uint32_t layer = 0; layer < config_.n_layers; ++layer) {
    for (std::uint32_t slot = 0; slot < copy.valid_tokens; ++slot) values.push_back(load(copy.from, layer, slot));
  }
  std::memcpy(arena_.data() + copy.to.value * bytes, fresh.data(), bytes);
  std::size_t next = 0;
  for (std::uint32_t layer = 0; layer < config_.n_layers; ++layer) {
    for (std::uint32_t slot = 0; slot < copy.valid_tokens; ++slot) store(copy.to, layer, slot, values[next++]);
  }
  MutexLock lock(knobs_->mutex_);
  knobs_->copied_tokens_ += copy.valid_tokens;
}

Status FakeDevice::run_layers(const exec::Step& step) {
  if (step.hidden_slot >= exec::kHiddenSlots || step.layer_end > config_.n_layers ||
      step.layer_begin >= step.layer_end) {
    violation("layer range or hidden slot out of range");
    return Error{ErrorCode::kDevice, "bad step", ""};
  }
  std::vector<std::uint64_t>& hidden = hidden_[step.hidden_slot];
  const std::uint64_t digest = digest_of_rows(step);
  if (step.layer_begin == 0) {
    hidden.clear();
    for (const exec::SequenceRows& rows : step.sequences) {
      for (const Token token : rows.tokens) hidden.push_back(mix64(static_cast<std::uint64_t>(token) + 0x51u));
    }
    rows_digest_[step.hidden_slot] = digest;
  } else if (rows_digest_[step.hidden_slot] != digest || next_layer_[step.hidden_slot] != step.layer_begin) {
    violation("a layer range goes on with other rows or another layer than it stopped at");
  }
  hidden.resize(step.row_count());
  for (std::uint32_t layer = step.layer_begin; layer < step.layer_end; ++layer) {
    if (aborted(step.id)) {
      return Error{ErrorCode::kCancelled, "aborted", ""};
    }
    std::uint64_t* at = hidden.data();
    for (const exec::SequenceRows& rows : step.sequences) {
      run_rows(step, rows, layer, at);
      at += rows.tokens.size();
    }
  }
  next_layer_[step.hidden_slot] = step.layer_end;
  return {};
}

void FakeDevice::run_rows(const exec::Step& step, const exec::SequenceRows& rows, std::uint32_t layer,
                          std::uint64_t* hidden) {
  const std::uint32_t end = rows.first_position + static_cast<std::uint32_t>(rows.tokens.size());
  if (rows.block_table.size() * kernels::kBlockTokens < end) {
    violation("rows beyond the block table");
    return;
  }
  std::uint64_t earlier = 0;
  for (std::uint32_t p = 0; p < rows.first_position; ++p) {
    const std::uint64_t kv = load(rows.block_table[p / kernels::kBlockTokens], layer, p % kernels::kBlockTokens);
    earlier += mix64(kv ^ mix64(p));
  }
  for (std::uint32_t p = rows.first_position; p < end; ++p) {
    std::uint64_t& h = hidden[p - rows.first_position];
    const BlockId block = rows.block_table[p / kernels::kBlockTokens];
    const std::uint32_t slot = p % kernels::kBlockTokens;
    const std::uint64_t kv = mix64(h ^ mix64(p + 1000003u * layer));
    const std::uint64_t before = load(block, layer, slot);
    if (before != 0 && before != kv) {
      violation("step " + std::to_string(step.id) + " writes position " + std::to_string(p) + " of sequence " +
                std::to_string(rows.seq.value) + " over other KV in block " + std::to_string(block.value));
    }
    store(block, layer, slot, kv);
    earlier += mix64(kv ^ mix64(p));
    h = mix64(earlier ^ h);
  }
}

void FakeDevice::write_outputs(const exec::Step& step, exec::StepResult& result) {
  const std::vector<std::uint64_t>& hidden = hidden_[step.hidden_slot];
  std::vector<float> scratch;
  const auto logits_of = [&](std::uint64_t h) {
    std::vector<float> logits(config_.n_vocab);
    for (std::uint32_t v = 0; v < config_.n_vocab; ++v) {
      logits[v] = static_cast<float>(static_cast<double>(mix64(h + v) >> 40) * 0x1.0p-24 * 8.0);
    }
    return logits;
  };
  std::size_t row = 0;
  for (const exec::SequenceRows& rows : step.sequences) {
    exec::SequenceOutput output;
    output.seq = rows.seq;
    const std::size_t last = row + rows.tokens.size() - 1;
    if (rows.output == exec::OutputKind::kLogProbs) {
      const std::uint32_t alternatives = rows.sampling.params ? rows.sampling.params->top_logprobs : 0;
      for (std::size_t r = row; r < last; ++r) {
        output.scored.push_back(sample::score(logits_of(hidden[r]), rows.sampling.forced_next[r - row], alternatives));
      }
    }
    if (rows.output != exec::OutputKind::kNone) {
      std::vector<float> logits = logits_of(hidden[last]);
      output.sampled = sample::draw(logits, rows.sampling, scratch);
      if (rows.want_logits) output.logits = std::move(logits);
    }
    row += rows.tokens.size();
    result.outputs.push_back(std::move(output));
  }
  MutexLock lock(knobs_->mutex_);
  knobs_->rows_ += row;
}

void FakeDevice::violation(const std::string& text) {
  MutexLock lock(knobs_->mutex_);
  if (knobs_->violations_.size() < 100) knobs_->violations_.push_back(text);
}

std::uint64_t FakeDevice::load(BlockId block, std::uint32_t layer, std::uint32_t slot) const {
  if (block.value >= most_blocks_) return ~std::uint64_t{0};
  const std::size_t row_bytes = layout_.d_head * kernels::kv_element_bytes(layout_.type);
  std::uint64_t value = 0;
  std::memcpy(&value,
              arena_.data() + block.value * layout_.block_bytes() + layout_.slice_offset(layer, 0) + slot * row_bytes,
              sizeof value);
  return value;
}

void FakeDevice::store(BlockId block, std::uint32_t layer, std::uint32_t slot, std::uint64_t value) {
  if (block.value >= most_blocks_) {
    violation("write to a block that does not exist");
    return;
  }
  const std::size_t row_bytes = layout_.d_head * kernels::kv_element_bytes(layout_.type);
  std::memcpy(arena_.data() + block.value * layout_.block_bytes() + layout_.slice_offset(layer, 0) + slot * row_bytes,
              &value, sizeof value);
}

}  // namespace larder::test
