// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/exec/golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "kernels/layout/half.h"
#include "runtime/base/invariant.h"

namespace larder::test {
namespace {

using nlohmann::json;

std::vector<json> read_lines(const std::string& path) {
  std::ifstream in(path);
  INVARIANT(in.good());
  std::vector<json> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  INVARIANT(!lines.empty());
  return lines;
}

std::vector<std::uint8_t> decode_base64(const std::string& text) {
  static const std::string kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string::npos) break;
    bits = (bits << 6) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<std::uint8_t>(bits >> held));
    }
  }
  return bytes;
}

GoldenLogits read_logits(const json& entry) {
  GoldenLogits logits;
  logits.at = entry.at("at");
  logits.step = entry.at("step");
  const float mean = entry.at("mean");
  const std::vector<std::uint8_t> bytes = decode_base64(entry.at("f16"));
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const auto half = static_cast<std::uint16_t>(bytes[i] | bytes[i + 1] << 8);
    logits.values.push_back(mean + kernels::f16_to_f32(half));
  }
  return logits;
}

struct Rotation {
  void (*rope)(const kernels::RopeArgs&) = nullptr;
  std::uint32_t n_kv_heads = 0;
  float base = 0;
};
Rotation rotation;  // a KernelSet holds plain functions, so the fault's parameters lie here

void rotate_keys_too_far(const kernels::RopeArgs& args) {
  rotation.rope(args);
  if (args.n_heads != rotation.n_kv_heads) return;
  std::vector<float> one_position;
  for (std::uint32_t r = 0; r < args.rows; ++r) {
    for (std::uint32_t pair = 0; pair < args.n_rot / 2; ++pair) {
      const double angle = std::pow(static_cast<double>(rotation.base), -2.0 * pair / args.n_rot);
      one_position.push_back(static_cast<float>(std::cos(angle)));
      one_position.push_back(static_cast<float>(std::sin(angle)));
    }
  }
  kernels::RopeArgs again = args;
  again.cos_sin = one_position.data();
  rotation.rope(again);
}

void compare_rows(const GoldenPrompt& prompt, const std::vector<sample::Sampled>& rows, const GoldenBound& bound,
                  GoldenReport& report) {
  for (std::size_t at = 0; at < rows.size() && at < prompt.top1.size(); ++at) {
    if (prompt.margin[at] <= bound.margin) continue;
    ++report.compared_top1;
    if (rows[at].top.at(0).token != prompt.top1[at]) {
      report.faults.push_back(prompt.name + ": top-1 after position " + std::to_string(at) + " is " +
                              std::to_string(rows[at].top[0].token) + ", golden " + std::to_string(prompt.top1[at]) +
                              " with margin " + std::to_string(prompt.margin[at]));
    }
  }
  for (const GoldenTop& top : prompt.top) {
    if (top.at >= rows.size()) continue;
    for (const sample::Alternative& ours : rows[top.at].top) {
      const auto same = std::find(top.ids.begin(), top.ids.end(), ours.token);
      if (same == top.ids.end()) continue;
      const auto index = static_cast<std::size_t>(same - top.ids.begin());
      const double error = std::abs(static_cast<double>(ours.logprob) - top.logprobs[index]);
      report.worst_logprob_error = std::max(report.worst_logprob_error, error);
      if (index == 0) report.first_logprob_errors.push_back(error);
    }
  }
}

// Scores every row but the last; the chunk ends where logits are wanted.
void run_prompt(StepRunner& runner, const GoldenPrompt& prompt, const GoldenBound& bound, GoldenReport& report) {
  Lane lane = runner.open_lane(static_cast<std::uint32_t>(prompt.tokens.size()));
  auto params = std::make_shared<sample::SamplingParams>();
  params->temperature = 0;
  params->logprobs = true;
  params->top_logprobs = 20;
  std::vector<sample::Sampled> rows;
  for (const GoldenLogits& golden : prompt.logits) {
    const std::span<const Token> tokens(prompt.tokens);
    const std::span<const Token> chunk = tokens.subspan(lane.position, golden.at + 1 - lane.position);
    exec::SequenceRows wanted = runner.rows(lane, chunk);
    wanted.output = exec::OutputKind::kLogProbs;
    wanted.sampling.params = params;
    wanted.sampling.forced_next.assign(chunk.begin() + 1, chunk.end());
    exec::StepResult result = runner.run(runner.step({std::move(wanted)}));
    if (!result.status.ok()) {
      report.faults.push_back(to_string(result.status.error()));
      return;
    }
    exec::SequenceOutput& output = result.outputs.at(0);
    rows.insert(rows.end(), output.scored.begin(), output.scored.end());
    rows.push_back(output.sampled);
    const double error = relative_error(output.logits, golden);
    report.worst_relative_error = std::max(report.worst_relative_error, error);
    if (!(error <= bound.relative_error)) {
      report.faults.push_back(prompt.name + ": logits after position " + std::to_string(golden.at) +
                              " have relative error " + std::to_string(error));
    }
  }
  compare_rows(prompt, rows, bound, report);
}

}  // namespace

std::vector<GoldenPrompt> read_stories_golden(const std::string& path) {
  std::vector<GoldenPrompt> prompts;
  for (const json& line : read_lines(path)) {
    GoldenPrompt prompt;
    prompt.name = "\"" + line.at("prompt").get<std::string>() + "\"";
    prompt.tokens = line.at("prompt_ids").get<std::vector<Token>>();
    prompt.greedy = line.at("greedy_ids").get<std::vector<Token>>();
    GoldenLogits logits;
    logits.at = static_cast<std::uint32_t>(prompt.tokens.size()) - 1;
    logits.values = line.at("logits_last_prompt_pos").get<std::vector<float>>();
    prompt.logits.push_back(std::move(logits));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

std::vector<GoldenPrompt> read_smollm2_golden(const std::string& path) {
  std::vector<GoldenPrompt> prompts;
  for (const json& line : read_lines(path)) {
    GoldenPrompt prompt;
    prompt.name = line.at("name");
    prompt.tokens = line.at("tokens").get<std::vector<Token>>();
    for (const json& top1 : line.at("top1")) {
      prompt.top1.push_back(top1.at(0));
      prompt.margin.push_back(top1.at(1));
    }
    for (const json& top : line.at("top")) {
      prompt.top.push_back({top.at("at"), top.at("ids").get<std::vector<Token>>(),
                            top.at("logprobs").get<std::vector<float>>()});
    }
    for (const json& logits : line.at("logits")) prompt.logits.push_back(read_logits(logits));
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

double relative_error(std::span<const float> logits, const GoldenLogits& golden) {
  double mean = 0;
  for (const float value : golden.values) mean += value;
  mean /= static_cast<double>(golden.values.size());
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < golden.values.size(); ++i) {
    const std::size_t id = i * golden.step;
    INVARIANT(id < logits.size());
    difference += std::pow(static_cast<double>(logits[id]) - golden.values[i], 2);
    norm += std::pow(golden.values[i] - mean, 2);
  }
  return std::sqrt(difference / norm);
}

GoldenReport compare_with_golden(StepRunner& runner, std::span<const GoldenPrompt> prompts, const GoldenBound& bound) {
  GoldenReport report;
  for (const GoldenPrompt& prompt : prompts) run_prompt(runner, prompt, bound, report);
  if (report.worst_logprob_error > bound.logprob_error) {
    report.faults.push_back("a log-probability is off by " + std::to_string(report.worst_logprob_error));
  }
  return report;
}

kernels::KernelSet with_keys_rotated_too_far(const kernels::KernelSet& kernels, std::uint32_t n_kv_heads,
                                             float rope_base) {
  rotation = {kernels.rope, n_kv_heads, rope_base};
  kernels::KernelSet faulty = kernels;
  faulty.rope = rotate_keys_too_far;
  return faulty;
}

}  // namespace larder::test
