// SPDX-License-Identifier: Apache-2.0
// room_for: what needs memory comes before what changes a state, so that a move happens whole or not at all.
// Errors:   std::bad_alloc; nothing has changed then.    Cost: amortised, unlike vector::reserve.
// Threads:  as the vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace larder::kv {

// From here `more` elements can be pushed without memory.
template <typename T>
void room_for(std::vector<T>& list, std::size_t more) {
  const std::size_t needed = list.size() + more;
  if (needed > list.capacity()) list.reserve(std::max(needed, 2 * list.capacity()));
}

}  // namespace larder::kv
