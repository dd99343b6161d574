// SPDX-License-Identifier: Apache-2.0
// Spoil: one change of a good model file after which it must be refused: a field, or a range of bytes, that no loader
// may accept. Made from the writer's list of fields for stories260K; for the bad-file campaign only. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/rng.h"
#include "tests/support/gguf_writer.h"

namespace larder::test {

struct Spoil {
  std::string what;  // kind of field and its owner
  std::uint64_t offset = 0;
  std::vector<std::byte> bytes;
};

// Number of kinds that make_spoil knows.
std::size_t spoil_kinds();

// Ensures: the change differs from what stands there.
Spoil make_spoil(std::size_t kind, const GgufImage& good, Rng& rng);

}  // namespace larder::test
