// SPDX-License-Identifier: Apache-2.0
// CodecMeter: what lossy KV changes in a model's next tokens. Windows of a text are each cut into a prefix, computed
// exactly, and a rest; the rest is then computed again, token by token, on top of the prefix after `recode` changed its
// blocks, and the distribution of the next token after each row of the rest is compared with the exact one.
// Units: nats.    Threads: one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/exec/kv_roundtrip.h"
#include "tests/runtime/exec/step_runner.h"

namespace larder::test {

// Token ids of a text in the model's own vocabulary; dies where the model has none.
std::vector<Token> tokens_of(const model::Model& model, const std::string& text);

struct CodecReport {
  exec::KvLoss loss;
  std::uint32_t rows = 0;
  double mean_kld = 0;  // of exact against recoded
  double max_kld = 0;
  double same_top1 = 0;  // share of rows whose likeliest token is the same
};

class CodecMeter {
 public:
  // Changes one block of a prefix, the `number`th of its window.
  using Recode = std::function<exec::KvLoss(std::span<std::byte> block, std::size_t number)>;

  // Takes as many whole windows of the text as there are, at most `windows`.
  // Requires: prefix a multiple of a block; the runner has blocks for all windows.
  CodecMeter(StepRunner& runner, std::span<const Token> text, std::uint32_t prefix, std::uint32_t rest,
             std::uint32_t windows);

  CodecReport measure(const Recode& recode);
  std::uint32_t windows() const { return static_cast<std::uint32_t>(windows_.size()); }

 private:
  struct Window {
    std::vector<Token> rest;
    Lane lane;
    std::vector<std::vector<std::byte>> blocks;  // of the prefix, exact
  };
  // Calls row(index, logits) for every row of every window's rest.
  void run_rest(const std::function<void(std::size_t, std::span<const float>)>& row);

  StepRunner& runner_;
  const std::uint32_t prefix_;
  std::vector<Window> windows_;
  std::vector<std::vector<float>> exact_;  // log-probabilities by row
};

}  // namespace larder::test
