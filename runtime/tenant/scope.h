// SPDX-License-Identifier: Apache-2.0
// Scope: the root of a tenant's or share group's block keys: a random 128-bit id and a 256-bit secret made at creation.
// Two tenants share a block only through a share group's scope.
// Owns:     the secret; it is wiped when the last holder goes.    Threads: immutable, any, by shared_ptr<const>.
#pragma once

#include <memory>
#include <vector>

#include "runtime/base/ids.h"

namespace larder::tenant {

class ScopeKeyMaterial {
 public:
  ScopeKeyMaterial(const ScopeId& id, const ScopeSecret& secret) : id_(id), secret_(secret) {}
  ~ScopeKeyMaterial();
  ScopeKeyMaterial(const ScopeKeyMaterial&) = delete;
  ScopeKeyMaterial& operator=(const ScopeKeyMaterial&) = delete;

  const ScopeId& id() const { return id_; }
  const ScopeSecret& secret() const { return secret_; }

 private:
  ScopeId id_;
  ScopeSecret secret_;
};

using Scope = std::shared_ptr<const ScopeKeyMaterial>;

// What one tenant may read and write, in the order in which a prompt is matched: shared scopes first, the tenant's own
// last, never the reverse. Never empty; back() is the tenant's own.
using ScopeChain = std::vector<Scope>;

}  // namespace larder::tenant
