// SPDX-License-Identifier: Apache-2.0
// The keyring: the outer file as it comes, and the payload behind a checksum that holds.
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/tenant/registry_state.h"
#include "storage/keyring_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using larder::tenant::Registry;
  const std::span<const std::uint8_t> bytes(data, size);
  const auto file = larder::storage::decode_keyring(bytes);
  if (file.ok() && larder::storage::encode_keyring(file->generation, file->payload).size() != size) __builtin_trap();
  larder::storage::SealKey master;
  master.fill(9);  // as make_keyring_seeds.cc
  const auto state = Registry::State::decode(bytes, master);
  if (!state.ok()) return 0;
  // What was read is written and read again alike.
  const auto again = Registry::State::decode(state->encode(master), master);
  if (!again.ok() || again->tenants.size() != state->tenants.size() || again->keys.size() != state->keys.size() ||
      again->groups.size() != state->groups.size() || again->next_key != state->next_key) {
    __builtin_trap();
  }
  return 0;
}
