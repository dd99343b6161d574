// SPDX-License-Identifier: Apache-2.0
// pause_briefly: what a spinning thread does between looks, so that its core's other thread and the memory bus get on.
// The build chooses the file: pause_x86.cc or pause_other.cc.
// Threads: any.
#pragma once

namespace larder::exec {

void pause_briefly();

}  // namespace larder::exec
