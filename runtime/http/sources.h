// SPDX-License-Identifier: Apache-2.0
// The AnswerSources behind the routes: a token stream, a verb's result, a snapshot young enough. Each keeps what its
// wakes touch alive on its own, so that an answer that is dropped leaves nothing dangling.
// Ensures:  destroying a completion before its end cancels its request at once.
// Threads:  as AnswerSource; verbs and streams wake from the engine thread.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "runtime/engine/engine.h"
#include "runtime/http/message.h"
#include "runtime/http/openai_answer.h"

namespace larder::http {

std::unique_ptr<AnswerSource> stream_answer(std::shared_ptr<engine::TokenStream> stream, AnswerShape shape);
std::unique_ptr<AnswerSource> whole_answer(std::shared_ptr<engine::TokenStream> stream, AnswerShape shape);

// Runs the verb and prints its result.
std::unique_ptr<AnswerSource> verb_answer(engine::Engine& engine, engine::Principal who, engine::Verb verb);

// Prints the first snapshot taken at or after `now`, or after half a second the newest there is: a reader sees what it
// did before.
std::unique_ptr<AnswerSource> snapshot_answer(engine::Engine& engine, engine::Principal who, WallTime now,
                                              std::function<Answer(const engine::Snapshot&)> print);

}  // namespace larder::http
