// SPDX-License-Identifier: Apache-2.0
// INVARIANT(x): a truth of our own code (a count, a state edge). Checked in every build; a false one prints file, line
// and expression, never data, and aborts. DCHECK(x): the same for inner loops, checked only in debug builds.
// Never for user, file or network input: those get an Error.
// Threads: any.
#pragma once

namespace larder {

[[noreturn]] void invariant_failed(const char* expression, const char* file, int line) noexcept;

}  // namespace larder

#define INVARIANT(x)                                                     \
  do {                                                                   \
    if (!(x)) [[unlikely]] ::larder::invariant_failed(#x, __FILE__, __LINE__); \
  } while (false)

#ifdef NDEBUG
#define DCHECK(x) static_cast<void>(sizeof(x))
#else
#define DCHECK(x) INVARIANT(x)
#endif
