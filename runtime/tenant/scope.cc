// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/scope.h"

#include "storage/seal.h"

namespace larder::tenant {

ScopeKeyMaterial::~ScopeKeyMaterial() { storage::wipe(secret_); }

}  // namespace larder::tenant
