// SPDX-License-Identifier: Apache-2.0
// prepare: a request's prompt to tokens, labelled sections and block keys: template, tokenizer, hashing. Runs in the
// preparation pool.
// Errors:   kInvalidArgument (no chat template, a bad message, an unknown token id, longer than the longest request:
//           with the numbers), kUnsupported (tools for a template that never shows them), kResourceExhausted (limits of
//           template and tokenizer). Messages hold no prompt text.
// Threads:  pure; any.
#pragma once

#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/result.h"
#include "runtime/base/section.h"
#include "runtime/engine/loaded_model.h"
#include "runtime/engine/request.h"
#include "runtime/kv/block_key.h"
#include "runtime/tenant/scope.h"

namespace larder::engine {

struct Prepared {
  std::shared_ptr<const PreparedPrompt> prompt;
  std::shared_ptr<const kv::PromptKeys> keys;
  double prepare_ms = 0;
};

using Prompt = std::variant<ChatPrompt, TextPrompt, TokenPrompt>;

Result<PreparedPrompt> prepare_prompt(const LoadedModel& model, const Prompt& prompt, WallTime now);
Result<Prepared> prepare(const LoadedModel& model, const Prompt& prompt, tenant::Scope scope, const Clock& clock);

// The part of a chat prompt that stands before its last message, for warming and counting.
Result<PreparedPrompt> prepare_prefix(const LoadedModel& model, const ChatPrompt& prompt, WallTime now);
Result<Prepared> prepare_warm(const LoadedModel& model, const ChatPrompt& prompt, tenant::Scope scope,
                              const Clock& clock);

}  // namespace larder::engine
