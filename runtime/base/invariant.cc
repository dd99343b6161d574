// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace larder {

void invariant_failed(const char* expression, const char* file, int line) noexcept {
  std::fprintf(stderr, "larder: broken invariant %s at %s:%d\n", expression, file, line);
  std::abort();
}

}  // namespace larder
