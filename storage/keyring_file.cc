// SPDX-License-Identifier: Apache-2.0
#include "storage/keyring_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

namespace larder::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored little-endian");

constexpr std::array<std::uint8_t, 8> kMagic{'L', 'A', 'R', 'D', 'K', 'E', 'Y', 'S'};
constexpr std::size_t kHeader = 8 + 4 + 4 + 8;  // magic, version, payload length, generation
constexpr std::size_t kChecksum = sizeof(Digest256);
constexpr std::string_view kMasterHead = "larder master key 1\n";
constexpr const char* kNames[] = {"/keyring", "/keyring.copy"};

template <typename Number>
Number number_at(std::span<const std::uint8_t> bytes, std::size_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

Error corrupt(const std::string& message) { return Error{ErrorCode::kCorrupt, message, {}}; }

Error too_new(std::uint32_t version) {
  return Error{ErrorCode::kUnsupported,
               "the keyring has version " + std::to_string(version) + ", this program knows up to " +
                   std::to_string(kKeyringVersion) + "; nothing was changed: use a newer program or another folder",
               {}};
}

// The version as the header says it, when there is a header. It is looked at before the checksum, since a newer version
// may keep its checksum elsewhere.
std::optional<std::uint32_t> stated_version(std::span<const std::uint8_t> file) {
  if (file.size() < kHeader || !std::equal(kMagic.begin(), kMagic.end(), file.begin())) return std::nullopt;
  return number_at<std::uint32_t>(file, 8);
}

bool checksum_holds(std::span<const std::uint8_t> file) {
  if (file.size() < kHeader + kChecksum) return false;
  const Digest256 sum = hash256(file.first(file.size() - kChecksum));
  return std::equal(sum.begin(), sum.end(), file.end() - kChecksum);
}

Result<KeyringContent> read_copy(const std::string& path) {
  ASSIGN_OR_RETURN(const std::vector<std::uint8_t> file,
                   read_small_file(path, kMaxPayload + kHeader + kChecksum));
  return decode_keyring(file);
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// The line behind a master key that tells a damaged one from a whole one.
std::string check_line(const SealKey& key) {
  const Digest256 sum = hash256(key);
  return "\n" + hex(std::span(sum).first(4)) + "\n";
}

}  // namespace

std::vector<std::uint8_t> encode_keyring(std::uint64_t generation, std::span<const std::uint8_t> payload) {
  INVARIANT(payload.size() <= kMaxPayload);
  std::vector<std::uint8_t> file(kHeader + payload.size() + kChecksum);
  const auto length = static_cast<std::uint32_t>(payload.size());
  std::copy(kMagic.begin(), kMagic.end(), file.begin());
  std::memcpy(file.data() + 8, &kKeyringVersion, sizeof kKeyringVersion);
  std::memcpy(file.data() + 12, &length, sizeof length);
  std::memcpy(file.data() + 16, &generation, sizeof generation);
  std::copy(payload.begin(), payload.end(), file.begin() + kHeader);
  const Digest256 sum = hash256(std::span(file).first(kHeader + payload.size()));
  std::copy(sum.begin(), sum.end(), file.begin() + static_cast<std::ptrdiff_t>(kHeader + payload.size()));
  return file;
}

Result<KeyringContent> decode_keyring(std::span<const std::uint8_t> file) {
  const std::optional<std::uint32_t> version = stated_version(file);
  if (!version) return corrupt("it does not begin like a keyring");
  if (!checksum_holds(file)) return corrupt("its checksum does not match");
  if (*version > kKeyringVersion) return too_new(*version);
  if (*version < kKeyringVersion) return corrupt("it states version " + std::to_string(*version));
  const auto length = number_at<std::uint32_t>(file, 12);
  if (length != file.size() - kHeader - kChecksum) return corrupt("its length does not match");
  KeyringContent content;
  content.generation = number_at<std::uint64_t>(file, 16);
  content.payload.assign(file.begin() + kHeader, file.end() - kChecksum);
  return content;
}

Status check_keyring_version(const std::string& folder) {
  bool ours_is_whole = false;
  std::uint32_t newest = 0;
  for (const char* name : kNames) {
    const Result<std::vector<std::uint8_t>> file = read_small_file(folder + name, kMaxPayload + kHeader + kChecksum);
    const std::optional<std::uint32_t> version = file.ok() ? stated_version(*file) : std::nullopt;
    if (!version) continue;
    if (*version > kKeyringVersion && checksum_holds(*file)) return too_new(*version);
    if (*version == kKeyringVersion && checksum_holds(*file)) ours_is_whole = true;
    newest = std::max(newest, *version);
  }
  // A strange version number beside a whole copy of ours is damage, not progress.
  if (newest > kKeyringVersion && !ours_is_whole) return too_new(newest);
  return {};
}

Result<KeyringContent> read_keyring(const std::string& folder) {
  RETURN_IF_ERROR(check_keyring_version(folder));
  const Result<KeyringContent> first = read_copy(folder + kNames[0]);
  const Result<KeyringContent> second = read_copy(folder + kNames[1]);
  const auto is_missing = [](const auto& copy) { return !copy.ok() && copy.error().code == ErrorCode::kNotFound; };
  if (!first.ok() && !second.ok()) {
    if (is_missing(first) && is_missing(second)) return Error{ErrorCode::kNotFound, "no keyring", folder};
    return Error{ErrorCode::kCorrupt,
                 "both copies of the keyring are unreadable (keyring: " + first.error().message + "; keyring.copy: " +
                     second.error().message + "); restore one from a backup or move both away", folder};
  }
  const bool use_first = first.ok() && (!second.ok() || first->generation >= second->generation);
  KeyringContent content = use_first ? *first : *second;
  const Result<KeyringContent>& other = use_first ? second : first;
  const std::string other_name = use_first ? "keyring.copy" : "keyring";
  if (!other.ok()) {
    content.notice = other_name + " was " + (is_missing(other) ? "missing" : "damaged: " + other.error().message) +
                     "; it was written again from the other copy";
  } else if (other->generation != content.generation || other->payload != content.payload) {
    content.notice = other_name + " was older after an interrupted write; it was written again from the other copy";
  }
  if (!content.notice.empty()) {
    RETURN_IF_ERROR(replace_file(folder + "/" + other_name, encode_keyring(content.generation, content.payload)));
  }
  return content;
}

Status write_keyring(const std::string& folder, std::uint64_t generation, std::span<const std::uint8_t> payload,
                     const WriteGate& gate) {
  const std::vector<std::uint8_t> file = encode_keyring(generation, payload);
  RETURN_IF_ERROR(replace_file(folder + kNames[0], file, gate));
  return replace_file(folder + kNames[1], file, gate);
}

Status write_master_key(const std::string& folder, const SealKey& key) {
  std::string text(kMasterHead);
  text += hex(key) + check_line(key);
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const Status written = replace_file(folder + "/master.key", bytes);
  wipe({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
  return written;
}

Result<SealKey> read_master_key(const std::string& folder) {
  const std::string path = folder + "/master.key";
  ASSIGN_OR_RETURN(std::vector<std::uint8_t> file, read_small_file(path, 4096));
  const Error bad{ErrorCode::kCorrupt, "master.key is damaged", path};
  SealKey key{};
  constexpr std::size_t kWhole = kMasterHead.size() + 64 + 1 + 8 + 1;
  if (file.size() != kWhole || std::memcmp(file.data(), kMasterHead.data(), kMasterHead.size()) != 0) return bad;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char digits[3] = {static_cast<char>(file[kMasterHead.size() + 2 * i]),
                            static_cast<char>(file[kMasterHead.size() + 2 * i + 1]), 0};
    unsigned value = 0;
    if (std::sscanf(digits, "%2x", &value) != 1) return bad;
    key[i] = static_cast<std::uint8_t>(value);
  }
  const std::string tail = check_line(key);
  const bool spelt = hex(key) == std::string(file.begin() + kMasterHead.size(), file.begin() + kMasterHead.size() + 64);
  const bool holds =
      spelt && std::equal(tail.begin(), tail.end(), file.end() - static_cast<std::ptrdiff_t>(tail.size()));
  wipe(file);
  if (!holds) return bad;
  if (::chmod(path.c_str(), 0600) != 0) return system_error("cannot make private", path);
  return key;
}

Result<std::string> set_keyring_aside(const std::string& folder) {
  std::string aside;
  for (int i = 1;; ++i) {
    aside = folder + "/set-aside-" + std::to_string(i);
    if (::mkdir(aside.c_str(), 0700) == 0) break;
    if (errno != EEXIST || i > 10'000) return system_error("cannot make", aside);
  }
  for (const char* name : {"/keyring", "/keyring.copy", "/master.key"}) {
    if (std::rename((folder + name).c_str(), (aside + name).c_str()) != 0 && errno != ENOENT) {
      return system_error("cannot move aside", folder + name);
    }
  }
  return aside;
}

}  // namespace larder::storage
