// SPDX-License-Identifier: Apache-2.0
// What a lack of memory is turned into: an Error whose words need none, and the one way to go on after work that
// std::bad_alloc broke off. Such work has to leave whole what it shares with others (memory first, then the change), so
// this stands only where one of many ends alone: a sequence, a request, a message.
// Errors:   other exceptions pass.    Threads: any.
#pragma once

#include <new>

#include "runtime/base/result.h"

namespace larder {

inline Error out_of_memory() { return {ErrorCode::kResourceExhausted, "out of memory", ""}; }

// False: memory ran out in the middle of it.
template <typename Work>
[[nodiscard]] bool had_memory(Work work) {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace larder
