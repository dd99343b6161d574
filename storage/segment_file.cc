// SPDX-License-Identifier: Apache-2.0
#include "storage/segment_file.h"

#include <array>
#include <cstring>

#include "storage/sealed_block.h"

namespace larder::storage {
namespace {

constexpr Bytes<8> kMagic{'L', 'A', 'R', 'D', 'S', 'E', 'G', '\n'};

struct HeaderFields {
  Bytes<8> magic;
  std::uint32_t version;
  std::uint32_t zero;
  std::uint64_t extent_bytes;
  Bytes<32> salt;
};
static_assert(sizeof(HeaderFields) == 56);

constexpr std::size_t kMacAt = kSegmentHeader - sizeof(Digest256);

struct alignas(kDiskAlign) HeaderPage {
  std::array<std::byte, kSegmentHeader> bytes{};
};

SealKey segment_key(const ScopeSecret& secret, const HeaderFields& fields) {
  SealKey root = derive_key(secret, "segment files");
  const SealKey key = keyed_hash(root, {reinterpret_cast<const std::uint8_t*>(&fields), sizeof fields});
  wipe(root);
  return key;
}

// Over all of the page but itself, so that no byte of the header may change.
Digest256 header_mac(const SealKey& key, const HeaderPage& page) {
  SealKey mac_key = derive_key(key, "segment header");
  const Digest256 mac = keyed_hash(mac_key, {reinterpret_cast<const std::uint8_t*>(page.bytes.data()), kMacAt});
  wipe(mac_key);
  return mac;
}

Result<Cipher> cipher_of(std::uint32_t version, const std::string& path) {
  if ((version & 0xffff) > kFormatVersion) {
    return Error{ErrorCode::kUnsupported, "the segment file has format " + std::to_string(version & 0xffff) +
                                              ", this program knows up to " + std::to_string(kFormatVersion), path};
  }
  for (const Cipher cipher : {Cipher::kAes256Gcm, Cipher::kXChaCha20Poly1305}) {
    if (version == format_word(cipher)) return cipher;
  }
  return Error{ErrorCode::kCorrupt, "the segment file states format " + std::to_string(version), path};
}

}  // namespace

SegmentFile::SegmentFile(std::uint32_t id, const ScopeId& scope, std::uint32_t version, std::uint64_t extent_bytes,
                         std::shared_ptr<const CipherKey> key, std::unique_ptr<DiskFile> file)
    : id_(id), scope_(scope), version_(version), extent_bytes_(extent_bytes), key_(std::move(key)),
      file_(std::move(file)) {}

std::string SegmentFile::name_of(std::uint32_t id) {
  std::string digits = std::to_string(id);
  return std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits + ".seg";
}

Result<std::shared_ptr<SegmentFile>> SegmentFile::create(Disk& disk, const std::string& folder, std::uint32_t id,
                                                         const Owner& owner, Cipher cipher,
                                                         std::uint64_t extent_bytes) {
  const std::string path = folder + "/" + name_of(id);
  RETURN_IF_ERROR(disk.remove(path));  // of an id that was never committed
  ASSIGN_OR_RETURN(std::unique_ptr<DiskFile> file, disk.open(path, OpenAs::kCreateNew, true));
  RETURN_IF_ERROR(file->lock());
  HeaderFields fields{kMagic, format_word(cipher), 0, extent_bytes, {}};
  random_bytes(fields.salt);
  SealKey key = segment_key(owner.secret, fields);
  HeaderPage page;
  std::memcpy(page.bytes.data(), &fields, sizeof fields);
  const Digest256 mac = header_mac(key, page);
  std::memcpy(page.bytes.data() + kMacAt, mac.data(), mac.size());
  RETURN_IF_ERROR(file->write(0, page.bytes));
  RETURN_IF_ERROR(file->sync());
  RETURN_IF_ERROR(disk.sync_folder(folder));
  auto cipher_key = std::make_shared<const CipherKey>(cipher, key);
  wipe(key);
  return std::shared_ptr<SegmentFile>(
      new SegmentFile(id, owner.scope, fields.version, extent_bytes, std::move(cipher_key), std::move(file)));
}

Result<std::shared_ptr<SegmentFile>> SegmentFile::open(Disk& disk, const std::string& folder, std::uint32_t id,
                                                       const Owner& owner, std::uint64_t extent_bytes) {
  const std::string path = folder + "/" + name_of(id);
  ASSIGN_OR_RETURN(std::unique_ptr<DiskFile> file, disk.open(path, OpenAs::kExisting, true));
  RETURN_IF_ERROR(file->lock());
  HeaderPage page;
  ASSIGN_OR_RETURN(const std::size_t got, file->read(0, page.bytes));
  const Error bad{ErrorCode::kCorrupt, "the segment file's header is damaged or of another scope", path};
  HeaderFields fields;
  std::memcpy(&fields, page.bytes.data(), sizeof fields);
  if (got != page.bytes.size() || fields.magic != kMagic) return bad;
  ASSIGN_OR_RETURN(const Cipher cipher, cipher_of(fields.version, path));
  if (fields.extent_bytes != extent_bytes) return bad;
  SealKey key = segment_key(owner.secret, fields);
  auto cipher_key = std::make_shared<const CipherKey>(cipher, key);
  Digest256 mac;
  std::memcpy(mac.data(), page.bytes.data() + kMacAt, mac.size());
  const bool holds = equal_constant_time(mac, header_mac(key, page));
  wipe(key);
  if (!holds) return bad;
  return std::shared_ptr<SegmentFile>(
      new SegmentFile(id, owner.scope, fields.version, extent_bytes, std::move(cipher_key), std::move(file)));
}

Status SegmentFile::allocate(std::uint32_t first, std::uint32_t count) {
  return file_->allocate(offset_of(first), count * extent_bytes_);
}

Status SegmentFile::punch(std::uint32_t extent) { return file_->punch(offset_of(extent), extent_bytes_); }

Status SegmentFile::destroy_key() {
  const HeaderPage zeros;
  RETURN_IF_ERROR(file_->write(0, zeros.bytes));
  return file_->sync();
}

}  // namespace larder::storage
