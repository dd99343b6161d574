// SPDX-License-Identifier: Apache-2.0
// From a model file to what answers: open, check, tokenizer, template, pool size, identity as far as it is known.
// Errors:   as of the rooms below: kNotFound, kIo, kCorrupt, kUnsupported, kResourceExhausted, kCancelled.
// Threads:  pure; blocking, so on the loader thread; one call at a time per path is enough.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/engine/loaded_model.h"
#include "runtime/engine/pool_size.h"
#include "runtime/engine/snapshot.h"
#include "runtime/exec/executor.h"

namespace larder::settings {
class Settings;
}

namespace larder::engine {

inline constexpr std::uint32_t kMaxStepRows = 2048;  // of one step

struct LoadedParts {
  LoadedModel model;                       // without its identity
  std::shared_ptr<kv::Identity> identity;  // without arithmetic_id: the executor says that
  std::uint64_t kv_bytes = 0;          // of which the pool was made
  std::uint64_t default_kv_bytes = 0;  // of which it would be made when nobody says
  MemoryFacts memory;                  // as they were then
  exec::ExecutorOptions executor;
};

struct LoadWish {
  std::string path;
  std::uint64_t kv_bytes = 0;  // of all models together, as the first of them chose; 0: this is the first
  MemoryFacts memory;
};

struct LoadWatch {
  std::function<void(double)> progress;  // 0..1, on the loading thread
  std::shared_ptr<std::atomic<bool>> cancel;
};

// What a pool of so many bytes holds of this model.  Errors: as plan_pool.
Result<PoolPlan> plan_pool_of(const LoadedModel& model, const settings::Settings& settings, std::uint64_t kv_bytes);

// The weights' digest is taken from the cache; where that does not have it, a random load id stands in.
Result<LoadedParts> load_parts(const LoadWish& wish, const std::string& digest_cache,
                               const settings::Settings& settings, const LoadWatch& watch);

// `name` as a path: absolute, or a file of the models folder (no separators).
Result<std::string> model_path(const std::string& models_dir, const std::string& name);

// The folder's *.gguf files by name, as state kFile, at most 200.
std::vector<ModelInfo> list_model_files(const std::string& models_dir);

}  // namespace larder::engine
