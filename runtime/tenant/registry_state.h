// SPDX-License-Identifier: Apache-2.0
// Registry's state as a value, and as the keyring's payload. Inside this room only.
// Shapes:   storage/FORMAT.md, "Keyring payload".
// Errors:   decode: kCorrupt, naming what is wrong; the bytes are untrusted.    Threads: values.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/tenant/registry.h"
#include "storage/seal.h"

namespace larder::tenant {

struct Registry::State {
  std::map<TenantId, TenantRecord> tenants;
  std::map<KeyId, KeyRecord> keys;  // tenant_name is filled when a table is made
  std::map<std::uint32_t, ShareGroup> groups;
  std::uint32_t next_tenant = 1;
  std::uint32_t next_key = 1;
  std::uint32_t next_group = 1;

  std::vector<std::uint8_t> encode(const storage::SealKey& master) const;  // without ephemeral keys
  static Result<State> decode(std::span<const std::uint8_t> payload, const storage::SealKey& master);
  // Does the payload belong to this master key? Errors: kCorrupt.
  static Result<bool> belongs_to(std::span<const std::uint8_t> payload, const storage::SealKey& master);
};

}  // namespace larder::tenant
