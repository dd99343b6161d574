// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/thread_name.h"

#include <pthread.h>

#include <cstring>

namespace larder {

void name_thread(const char* name) {
  char cut[16] = {};
  std::strncpy(cut, name, sizeof cut - 1);
  static_cast<void>(pthread_setname_np(pthread_self(), cut));
}

}  // namespace larder
