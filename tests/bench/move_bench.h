// SPDX-License-Identifier: Apache-2.0
// What a running answer feels of a large subtree that moves to disk and back. For a tiny model (stories260K).
#pragma once

#include <cstdint>
#include <string>

namespace larder::bench {

struct MoveOptions {
  std::string model;
  std::uint32_t blocks = 10'000;
  std::uint32_t rounds = 3;
  std::uint32_t threads = 0;  // engine.threads; 0: as set
};

// Prints its figures; whether they hold.
bool run_move(const MoveOptions& options);

}  // namespace larder::bench
