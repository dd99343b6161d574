// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec/pause.h"

namespace larder::exec {

void pause_briefly() { __builtin_ia32_pause(); }

}  // namespace larder::exec
