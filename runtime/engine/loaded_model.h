// SPDX-License-Identifier: Apache-2.0
// LoadedModel: everything about a model that answers and that never changes while it is loaded; shared by the engine
// thread, the preparation pool and callers who only count tokens. LoadedModels: where those that answer now are found.
// Threads:  LoadedModel immutable, any; LoadedModels any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/mutex.h"
#include "runtime/chat_template/chat_template.h"
#include "runtime/kv/block_key.h"
#include "runtime/model/model.h"
#include "runtime/tokenizer/tokenizer.h"

namespace larder::engine {

// What follows the KV budget while a model is loaded. Written by the engine thread, read by any.
struct KvBounds {
  std::atomic<std::uint32_t> pool_blocks{0};         // of the whole budget
  std::atomic<std::uint32_t> max_request_tokens{0};  // prompt and answer together
};

struct LoadedModel {
  ModelId id{};
  std::string name;  // general.name of the file, else its stem; no two that answer have the same
  std::string stem;  // file name without .gguf, an alias
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::shared_ptr<const chat_template::ChatTemplate> chat;  // null: the file has none
  std::string chat_error;                                   // why, when its template was refused
  std::shared_ptr<const kv::Identity> identity;             // only the engine thread looks into it: see block_key.h
  kernels::KvLayout layout;
  std::shared_ptr<KvBounds> bounds = std::make_shared<KvBounds>();
};

class LoadedModels {
 public:
  using List = std::vector<std::shared_ptr<const LoadedModel>>;  // the one loaded last first

  List all() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return models_;
  }
  // Null: none.
  std::shared_ptr<const LoadedModel> newest() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return models_.empty() ? nullptr : models_.front();
  }
  void set(List models) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    models_.swap(models);
  }

 private:
  mutable Mutex mutex_;
  List models_ GUARDED_BY(mutex_);
};

}  // namespace larder::engine
