// SPDX-License-Identifier: Apache-2.0
// read_vocab: a model file's tokenizer keys as a tokenizer::Vocab. It reads and checks types and ranges; whether the
// vocabulary makes sense is for Tokenizer::create.
// Errors:  kNotFound, kInvalidArgument (which key, which value); context: the path.    Threads: any.
#pragma once

#include "runtime/base/result.h"
#include "runtime/gguf/file.h"
#include "runtime/tokenizer/vocab.h"

namespace larder::engine {

Result<tokenizer::Vocab> read_vocab(const gguf::File& file);

}  // namespace larder::engine
