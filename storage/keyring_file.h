// SPDX-License-Identifier: Apache-2.0
// KeyringFile: one small payload kept twice, as `keyring` and `keyring.copy`, each with version, generation and
// checksum; and the master key beside it. It does not know what the payload says (runtime/tenant does).
// Shapes:   storage/FORMAT.md.
// Ensures:  a write that answered ok is in both copies; a crash at any step leaves the old payload or the new one;
//           a copy that is bad, older or missing is mended from the other and named in `notice`.
// Errors:   kUnsupported (newer version: nothing was touched), kCorrupt (both copies are bad, each fault named),
//           kNotFound (neither exists), kIo.
// Bounds:   kMaxPayload.    Threads: any, one writer per folder (DataDir's lock).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "storage/durable_file.h"
#include "storage/seal.h"

namespace larder::storage {

inline constexpr std::uint32_t kKeyringVersion = 1;
inline constexpr std::size_t kMaxPayload = 8u << 20;

struct KeyringContent {
  std::uint64_t generation = 0;
  std::vector<std::uint8_t> payload;
  std::string notice;  // empty, or one sentence on what was wrong with a copy
};

// One file's bytes. Errors: kCorrupt, kUnsupported.
std::vector<std::uint8_t> encode_keyring(std::uint64_t generation, std::span<const std::uint8_t> payload);
Result<KeyringContent> decode_keyring(std::span<const std::uint8_t> file);

// kUnsupported when either copy in the folder is of a newer version; reads a few bytes and writes nothing.
Status check_keyring_version(const std::string& folder);

Result<KeyringContent> read_keyring(const std::string& folder);
Status write_keyring(const std::string& folder, std::uint64_t generation, std::span<const std::uint8_t> payload,
                     const WriteGate& gate = {});

// master.key. Errors: kNotFound, kCorrupt, kIo.
Result<SealKey> read_master_key(const std::string& folder);
Status write_master_key(const std::string& folder, const SealKey& key);

// Moves keyring, its copy and master.key, as far as they exist, into a new folder set-aside-N; answers its path.
Result<std::string> set_keyring_aside(const std::string& folder);

}  // namespace larder::storage
