// SPDX-License-Identifier: Apache-2.0
// LoadedModel: everything about the model that answers now and that never changes while it is loaded; shared by the
// engine thread, the preparation pool and callers who only count tokens. LoadedModelSlot: where the newest one is
// found. Threads:  LoadedModel immutable, any; the slot any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "kernels/layout/kv_layout.h"
#include "runtime/base/ids.h"
#include "runtime/base/mutex.h"
#include "runtime/chat_template/chat_template.h"
#include "runtime/kv/block_key.h"
#include "runtime/model/model.h"
#include "runtime/tokenizer/tokenizer.h"

namespace larder::engine {

struct LoadedModel {
  ModelId id{};
  std::string name;  // general.name of the file, else its stem
  std::string stem;  // file name without .gguf, an alias
  std::shared_ptr<const model::Model> model;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::shared_ptr<const chat_template::ChatTemplate> chat;  // null: the file has none
  std::string chat_error;                                   // why, when its template was refused
  std::shared_ptr<const kv::Identity> identity;             // only the engine thread looks into it: see block_key.h
  kernels::KvLayout layout;
  std::uint32_t pool_blocks = 0;
  std::uint32_t max_request_tokens = 0;  // prompt and answer together

  bool answers_to(const std::string& asked) const { return asked.empty() || asked == name || asked == stem; }
};

class LoadedModelSlot {
 public:
  std::shared_ptr<const LoadedModel> get() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return model_;
  }
  void set(std::shared_ptr<const LoadedModel> model) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    model_.swap(model);
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const LoadedModel> model_ GUARDED_BY(mutex_);
};

}  // namespace larder::engine
