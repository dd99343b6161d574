// SPDX-License-Identifier: Apache-2.0
// IdSource: the last numbers given to nodes and pins, by all caches that share it: so an id names one thing among them.
// Threads:  the engine thread only.
#pragma once

#include <cstdint>

namespace larder::kv {

struct IdSource {
  std::uint64_t nodes = 0;
  std::uint64_t pins = 0;
};

}  // namespace larder::kv
