// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/key_table.h"

#include <charconv>

#include "storage/seal.h"

namespace larder::tenant {
namespace {

constexpr std::string_view kStart = "lk-";
constexpr std::size_t kMaxKeyText = 128;

// The id inside a key's text; 0, which no key has, when it does not read like one.
KeyId stated_id(std::string_view key) {
  if (key.size() > kMaxKeyText || key.substr(0, kStart.size()) != kStart) return KeyId{};
  KeyId id{};
  const char* begin = key.data() + kStart.size();
  const char* end = key.data() + key.size();
  const auto [stop, error] = std::from_chars(begin, end, id.value);
  return error == std::errc{} && stop != end && *stop == '-' ? id : KeyId{};
}

}  // namespace

KeyTable::~KeyTable() { storage::wipe(hash_key_); }

Result<KeyRecord> KeyTable::find(std::string_view key) const {
  const auto found = records_.find(stated_id(key));
  const std::string_view hashed = key.substr(0, kMaxKeyText);
  const Digest256 hash =
      storage::keyed_hash(hash_key_, {reinterpret_cast<const std::uint8_t*>(hashed.data()), hashed.size()});
  // An unknown id costs the same hash and comparison as a known one.
  const Digest256 nothing{};
  const bool equal = storage::equal_constant_time(hash, found == records_.end() ? nothing : found->second.hash);
  if (found == records_.end() || !equal || key.size() > kMaxKeyText) {
    return Error{
        ErrorCode::kUnauthorized, "the API key is not known; make one with larderctl keys or in the window", {}};
  }
  return found->second;
}

}  // namespace larder::tenant
