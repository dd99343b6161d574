// SPDX-License-Identifier: Apache-2.0
// Writes the corpus of the keyring fuzzer into the folder given as its argument.
#include <fstream>
#include <memory>
#include <string>

#include "runtime/tenant/registry_state.h"
#include "storage/keyring_file.h"

namespace {

using larder::tenant::Registry;

larder::tenant::Scope scope(std::uint8_t fill) {
  larder::ScopeId id;
  larder::ScopeSecret secret;
  id.fill(fill);
  secret.fill(fill);
  return std::make_shared<const larder::tenant::ScopeKeyMaterial>(id, secret);
}

Registry::State state(std::uint32_t tenants, std::uint32_t keys, bool group) {
  Registry::State made;
  for (std::uint32_t i = 1; i <= tenants; ++i) {
    const larder::TenantId id{i};
    made.tenants.emplace(id, larder::tenant::TenantRecord{id, "tenant " + std::to_string(i), i, 100,
                                                          scope(static_cast<std::uint8_t>(i))});
  }
  for (std::uint32_t i = 1; i <= keys; ++i) {
    larder::tenant::KeyRecord key;
    key.id = larder::KeyId{i};
    key.tenant = larder::TenantId{1 + i % tenants};
    key.label = "key";
    key.prefix = "lk-1-abcdef";
    made.keys.emplace(key.id, key);
  }
  if (group) made.groups.emplace(1, larder::tenant::ShareGroup{1, "family", 5, scope(99), {larder::TenantId{1}}});
  made.next_tenant = tenants + 1;
  made.next_key = keys + 1;
  made.next_group = 2;
  return made;
}

void write(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  larder::storage::SealKey master;
  master.fill(9);
  write(folder + "/payload_small", state(2, 0, false).encode(master));
  write(folder + "/payload_full", state(4, 3, true).encode(master));
  write(folder + "/file_small", larder::storage::encode_keyring(7, state(2, 1, false).encode(master)));
  write(folder + "/file_empty", larder::storage::encode_keyring(1, {}));
  return 0;
}
