// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/packed_weights.h"

#include <algorithm>
#include <utility>

namespace larder::exec {
namespace {

constexpr std::uint32_t kPanelsBetweenLooks = 64;  // at the flag that stops the thread
constexpr std::size_t kLine = 64;

}  // namespace

PackedWeights::PackedWeights(std::shared_ptr<const model::Model> model, const kernels::Int8Kernels& kernels)
    : model_(std::move(model)), kernels_(kernels) {
  const model::Weights& weights = model_->weights();
  for (const model::LayerWeights& layer : weights.layers) {
    for (const kernels::WeightView* w : {&layer.attn_q, &layer.attn_k, &layer.attn_v, &layer.attn_output,
                                         &layer.ffn_gate, &layer.ffn_up, &layer.ffn_down}) {
      add(*w);
    }
  }
  add(weights.output);
  thread_ = std::thread([this] { pack_all(); });
}

PackedWeights::~PackedWeights() {
  stopping_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void PackedWeights::add(const kernels::WeightView& w) {
  if (kernels_.packed_bytes(w) == 0) return;
  const auto [at, added] = matrices_.try_emplace(w.data);
  if (!added) return;
  at->second.view = w;
  at->second.offset = bytes_;
  bytes_ += (kernels_.packed_bytes(w) + kLine - 1) / kLine * kLine;
  order_.push_back(&at->second);
}

const std::byte* PackedWeights::find(const kernels::WeightView& w) const {
  const auto found = matrices_.find(w.data);
  return found == matrices_.end() ? nullptr : found->second.ready.load(std::memory_order_acquire);
}

void PackedWeights::pack_all() {
  Result<MappedMemory> memory = MappedMemory::map(bytes_, "packed weights");
  if (memory.ok()) {
    memory_ = std::move(memory).value();
    static_cast<void>(std::all_of(order_.begin(), order_.end(), [this](Matrix* matrix) { return pack(*matrix); }));
  }
  done_.store(true, std::memory_order_release);
}

bool PackedWeights::pack(Matrix& matrix) {
  std::byte* const packed = memory_.data() + matrix.offset;
  const std::uint32_t panels = (matrix.view.rows + kernels::kPanelWeightRows - 1) / kernels::kPanelWeightRows;
  for (std::uint32_t begin = 0; begin < panels; begin += kPanelsBetweenLooks) {
    if (stopping_.load(std::memory_order_relaxed)) return false;
    kernels_.pack(matrix.view, begin, std::min(begin + kPanelsBetweenLooks, panels), packed);
  }
  matrix.ready.store(packed, std::memory_order_release);
  model_->leave_pages(matrix.view);
  return true;
}

}  // namespace larder::exec
