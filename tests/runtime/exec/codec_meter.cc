// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/exec/codec_meter.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/tokenizer/tokenizer.h"

namespace larder::test {
namespace {

template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", to_string(result.error()).c_str());
    std::abort();
  }
  return std::move(result).value();
}

std::vector<float> log_softmax(std::span<const float> logits) {
  const float top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float value : logits) sum += std::exp(double{value} - double{top});
  const double log_sum = std::log(sum) + double{top};
  std::vector<float> out;
  out.reserve(logits.size());
  for (const float value : logits) out.push_back(static_cast<float>(double{value} - log_sum));
  return out;
}

double kld(std::span<const float> exact, std::span<const float> other) {
  double sum = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    sum += std::exp(double{exact[i]}) * (double{exact[i]} - double{other[i]});
  }
  return sum;
}

std::size_t likeliest(std::span<const float> values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

std::vector<Token> tokens_of(const model::Model& model, const std::string& text) {
  const auto tokenizer = must(tokenizer::Tokenizer::create(must(engine::read_vocab(model.file()))));
  return must(tokenizer->encode(text, false, tokenizer::BosRule::kOnce));
}

CodecMeter::CodecMeter(StepRunner& runner, std::span<const Token> text, std::uint32_t prefix, std::uint32_t rest,
                       std::uint32_t windows)
    : runner_(runner), prefix_(prefix) {
  while (windows_.size() < windows && text.size() >= prefix + rest) {
    Window window;
    window.lane = runner.open_lane(prefix + rest);
    runner.feed(window.lane, text.first(prefix), 256);
    for (std::size_t i = 0; i < prefix / kernels::kBlockTokens; ++i) {
      window.blocks.push_back(runner.block_bytes(window.lane.table[i]));
    }
    const auto after = text.subspan(prefix, rest);
    window.rest.assign(after.begin(), after.end());
    windows_.push_back(std::move(window));
    text = text.subspan(prefix + rest);
  }
  run_rest([this](std::size_t, std::span<const float> logits) { exact_.push_back(log_softmax(logits)); });
}

void CodecMeter::run_rest(const std::function<void(std::size_t, std::span<const float>)>& row) {
  std::size_t index = 0;
  for (Window& window : windows_) window.lane.position = prefix_;
  for (std::size_t at = 0; !windows_.empty() && at < windows_.front().rest.size(); ++at) {
    std::vector<exec::SequenceRows> sequences;
    for (Window& window : windows_)
      sequences.push_back(runner_.rows(window.lane, std::span(window.rest).subspan(at, 1)));
    const exec::StepResult result = runner_.run(runner_.step(std::move(sequences)));
    if (!result.status.ok()) must(Result<int>(result.status.error()));
    for (const exec::SequenceOutput& output : result.outputs) row(index++, output.logits);
  }
}

CodecReport CodecMeter::measure(const Recode& recode) {
  CodecReport report;
  for (Window& window : windows_) {
    for (std::size_t i = 0; i < window.blocks.size(); ++i) {
      std::vector<std::byte> block = window.blocks[i];
      report.loss.add(recode(block, i));
      const Status written = runner_.executor().write_block(window.lane.table[i], block);
      if (!written.ok()) must(Result<int>(written.error()));
    }
  }
  run_rest([&](std::size_t index, std::span<const float> logits) {
    const std::vector<float> other = log_softmax(logits);
    const double row_kld = kld(exact_[index], other);
    report.mean_kld += row_kld;
    report.max_kld = std::max(report.max_kld, row_kld);
    report.same_top1 += likeliest(exact_[index]) == likeliest(other) ? 1 : 0;
    ++report.rows;
  });
  if (report.rows > 0) {
    report.mean_kld /= report.rows;
    report.same_top1 /= report.rows;
  }
  return report;
}

}  // namespace larder::test
