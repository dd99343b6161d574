// SPDX-License-Identifier: Apache-2.0
// name_thread: what the calling thread is called in `top -H`, a debugger and tests.
// Bounds:   15 characters; the rest is cut off.    Errors: none; a name that is refused is missing there.
// Threads:  any, of itself.
#pragma once

namespace larder {

void name_thread(const char* name);

}  // namespace larder
