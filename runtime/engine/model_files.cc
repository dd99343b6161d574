// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/model_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "runtime/engine/vocab_from_gguf.h"
#include "runtime/gguf/file.h"
#include "runtime/model/digest_cache.h"
#include "runtime/settings/settings.h"
#include "storage/seal.h"

namespace larder::engine {
namespace {

constexpr std::size_t kMaxListedFiles = 200;

using settings::Key;

// RoPE's numbers in one fixed, exact spelling; equal texts mean equal rotations.
std::string rope_text(const model::ModelConfig& config) {
  char text[128];
  std::snprintf(text, sizeof text, "base %a scale %a rot %u %s", static_cast<double>(config.rope_base),
                static_cast<double>(config.rope_scale), config.n_rot,
                config.traits.rope_interleaved ? "interleaved" : "halves");
  return text;
}

// A model without a chat template, or with one outside the subset, still completes text.
void read_chat_template(const gguf::File& file, LoadedModel& loaded) {
  const Result<std::string> source = file.find_string("tokenizer.chat_template", "");
  if (!source.ok()) {
    loaded.chat_error = source.error().message;
    return;
  }
  if (source->empty()) return;
  const tokenizer::Tokenizer& tokenizer = *loaded.tokenizer;
  const auto spelling = [&](Token token) { return std::string(token < 0 ? "" : tokenizer.token_text(token)); };
  auto parsed = chat_template::ChatTemplate::parse(*source, spelling(tokenizer.bos()), spelling(tokenizer.eos()));
  if (parsed.ok()) {
    loaded.chat = std::move(parsed).value();
  } else {
    loaded.chat_error = parsed.error().message;
  }
}

std::shared_ptr<kv::Identity> identity_of(const gguf::File& file, const std::string& digest_cache) {
  auto identity = std::make_shared<kv::Identity>();
  const std::optional<Digest256> digest = model::find_cached_digest(digest_cache, file.stamp());
  identity->weights_known = digest.has_value();
  if (digest) {
    identity->weights = *digest;
  } else {
    storage::random_bytes(identity->weights);
  }
  return identity;
}

Status size_pool(const LoadWish& load, const settings::Settings& settings, LoadedParts& parts) {
  parts.default_kv_bytes = default_pool_bytes(load.memory, parts.model.model->weight_bytes());
  parts.kv_bytes = load.kv_bytes;
  if (parts.kv_bytes == 0) parts.kv_bytes = static_cast<std::uint64_t>(settings.integer(Key::kPoolBytes));
  if (parts.kv_bytes == 0) parts.kv_bytes = parts.default_kv_bytes;
  ASSIGN_OR_RETURN(const PoolPlan plan, plan_pool_of(parts.model, settings, parts.kv_bytes));
  parts.model.bounds->pool_blocks = plan.blocks;
  parts.model.bounds->max_request_tokens = plan.max_request_tokens;
  parts.executor.block_count = 1;  // the rest when its share of the budget is known
  // Room in the address space for any pool that this machine could hold.
  const kernels::KvLayout& layout = parts.model.layout;
  const std::uint64_t most = std::min<std::uint64_t>(load.memory.total / layout.block_bytes(), 0x7fffffff);
  parts.executor.most_blocks = std::max(plan.blocks, static_cast<std::uint32_t>(most));
  parts.executor.kv_type = layout.type;
  parts.executor.threads = static_cast<std::uint32_t>(settings.integer(Key::kEngineThreads));
  parts.executor.max_rows = kMaxStepRows;
  parts.executor.isa = settings.text(Key::kEngineIsa);
  parts.executor.arithmetic = settings.text(Key::kEngineArithmetic);
  parts.executor.pack_weights = weights_can_be_packed(load.memory, parts.model.model->weight_bytes(), parts.kv_bytes);
  return {};
}

}  // namespace

Result<PoolPlan> plan_pool_of(const LoadedModel& model, const settings::Settings& settings, std::uint64_t kv_bytes) {
  PoolWish wish;
  wish.pool_bytes = kv_bytes;
  wish.block_bytes = model.layout.block_bytes();
  wish.model_context = model.model->config().n_context;
  wish.max_tokens = static_cast<std::uint32_t>(settings.integer(Key::kEngineMaxTokens));
  return plan_pool(wish);
}

Result<LoadedParts> load_parts(const LoadWish& wish, const std::string& digest_cache,
                               const settings::Settings& settings, const LoadWatch& watch) {
  const std::string& path = wish.path;
  ASSIGN_OR_RETURN(const std::shared_ptr<const gguf::File> file, gguf::File::open(path));
  LoadedParts parts;
  parts.memory = wish.memory;
  ASSIGN_OR_RETURN(parts.model.model, model::Model::from_file(file, {watch.progress, watch.cancel.get()}));
  ASSIGN_OR_RETURN(tokenizer::Vocab vocab, read_vocab(*file));
  ASSIGN_OR_RETURN(parts.model.tokenizer, tokenizer::Tokenizer::create(std::move(vocab)));
  const model::ModelConfig& config = parts.model.model->config();
  if (parts.model.tokenizer->vocab_size() > config.n_vocab) {
    return Error{ErrorCode::kCorrupt,
                 "model refused: the vocabulary has " + std::to_string(parts.model.tokenizer->vocab_size()) +
                     " tokens and the output layer " + std::to_string(config.n_vocab),
                 path};
  }
  read_chat_template(*file, parts.model);
  parts.model.stem = std::filesystem::path(path).stem().string();
  parts.model.name = config.name.empty() ? parts.model.stem : config.name;
  const auto kv_type = settings.text(Key::kPoolKvType) == "f32" ? kernels::KvType::kF32 : kernels::KvType::kF16;
  parts.model.layout = config.kv_layout(kv_type);
  RETURN_IF_ERROR(size_pool(wish, settings, parts));
  parts.identity = identity_of(*file, digest_cache);
  parts.identity->rope = rope_text(config);
  parts.identity->kv_type = kv_type;
  return parts;
}

Result<std::string> model_path(const std::string& models_dir, const std::string& name) {
  if (name.empty() || name.size() > 4096 || name.find('\0') != std::string::npos) {
    return Error{ErrorCode::kInvalidArgument, "a model needs a file name or an absolute path", "path"};
  }
  std::filesystem::path path(name);
  if (!path.is_absolute()) {
    if (name.find('/') != std::string::npos || name[0] == '.') {
      return Error{ErrorCode::kInvalidArgument, "use an absolute path, or the name of a file in the models folder",
                   name};
    }
    path = std::filesystem::path(models_dir) / name;
  }
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) {
    return Error{ErrorCode::kNotFound, "there is no model file " + path.string() + ": check the path", path.string()};
  }
  return path.string();
}

std::vector<ModelInfo> list_model_files(const std::string& models_dir) {
  std::vector<ModelInfo> files;
  std::error_code failed;
  std::filesystem::directory_iterator folder(models_dir, failed);
  if (failed) return files;
  for (const auto& entry : folder) {
    if (files.size() >= kMaxListedFiles) break;
    if (entry.path().extension() != ".gguf" || !entry.is_regular_file(failed)) continue;
    ModelInfo info;
    info.name = entry.path().stem().string();
    info.path = entry.path().string();
    info.file_bytes = entry.file_size(failed);
    files.push_back(std::move(info));
  }
  std::sort(files.begin(), files.end(), [](const ModelInfo& a, const ModelInfo& b) { return a.name < b.name; });
  return files;
}

}  // namespace larder::engine
