// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "runtime/exec/pause.h"

namespace larder::exec {

void pause_briefly() { std::this_thread::yield(); }

}  // namespace larder::exec
