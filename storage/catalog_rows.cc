// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_rows.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/invariant.h"
#include "storage/sealed_block.h"

namespace larder::storage {
namespace {

// The plain bytes of a block's row. The order of the fields is the format.
struct PlainBlock {
  BlockKey key;
  BlockKey parent;
  Digest256 identity;
  std::uint32_t first_position;
  std::uint32_t valid_tokens;
  std::uint32_t scheme;
  std::uint32_t slice_count;
  std::uint32_t slice_bytes;
  std::uint32_t owner;
  std::int64_t created;
  std::int64_t last_use;
  std::uint64_t pinned;
  Token tokens[kernels::kBlockTokens];
};
static_assert(sizeof(PlainBlock) == 96 + 24 + 24 + 128);

template <typename... Numbers>
std::vector<std::uint8_t> associated(const char* kind, const ScopeTag& scope, Numbers... numbers) {
  std::vector<std::uint8_t> data(kind, kind + std::strlen(kind) + 1);
  data.insert(data.end(), scope.begin(), scope.end());
  for (const std::uint64_t number : {std::uint64_t{numbers}...}) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&number);
    data.insert(data.end(), bytes, bytes + sizeof number);
  }
  return data;
}

}  // namespace

ScopeTag scope_tag(const ScopeSecret& secret) {
  const SealKey whole = derive_key(secret, "catalog scope tag");
  ScopeTag tag;
  std::copy_n(whole.begin(), tag.size(), tag.begin());
  return tag;
}

ScopeKeys::ScopeKeys(const ScopeId& id, const ScopeSecret& secret, const Bytes<32>& salt)
    : id_(id), secret_(secret), tag_(scope_tag(secret)), salt_(salt) {
  SealKey root = derive_key(secret, "catalog rows");
  row_key_ = keyed_hash(root, salt);
  wipe(root);
}

ScopeKeys::~ScopeKeys() {
  wipe(secret_);
  wipe(row_key_);
}

BlockRow seal_block_row(const ScopeKeys& keys, const ExtentId& at, std::uint64_t generation, const StoredBlock& block) {
  PlainBlock plain{};
  plain.key = block.key;
  plain.parent = block.parent;
  plain.identity = block.identity;
  plain.first_position = block.first_position;
  plain.valid_tokens = block.valid_tokens;
  plain.scheme = block.scheme;
  plain.slice_count = block.slice_count;
  plain.slice_bytes = block.slice_bytes;
  plain.owner = block.owner.value;
  plain.created = block.created;
  plain.last_use = block.last_use;
  plain.pinned = block.pinned ? 1 : 0;
  std::copy(block.tokens.begin(), block.tokens.end(), plain.tokens);
  BlockRow row{at, generation, {}};
  row.sealed = wrap(keys.row_key(), {reinterpret_cast<const std::uint8_t*>(&plain), sizeof plain},
                    associated("block", keys.tag(), at.segment, at.extent, generation));
  wipe({reinterpret_cast<std::uint8_t*>(&plain), sizeof plain});
  return row;
}

Result<StoredBlock> open_block_row(const ScopeKeys& keys, const BlockRow& row) {
  ASSIGN_OR_RETURN(const std::vector<std::uint8_t> bytes,
                   unwrap(keys.row_key(), row.sealed,
                          associated("block", keys.tag(), row.at.segment, row.at.extent, row.generation)));
  return open_block_row_plain(keys, bytes);
}

Result<StoredBlock> open_block_row_plain(const ScopeKeys& keys, std::span<const std::uint8_t> bytes) {
  const Error bad{ErrorCode::kCorrupt, "a block's row has another form", {}};
  if (bytes.size() != sizeof(PlainBlock)) return bad;
  PlainBlock plain;
  std::memcpy(&plain, bytes.data(), sizeof plain);
  StoredBlock block;
  block.scope = keys.id();
  block.key = plain.key;
  block.parent = plain.parent;
  block.identity = plain.identity;
  block.first_position = plain.first_position;
  block.valid_tokens = plain.valid_tokens;
  std::copy(std::begin(plain.tokens), std::end(plain.tokens), block.tokens.begin());
  block.scheme = plain.scheme;
  block.slice_count = plain.slice_count;
  block.slice_bytes = plain.slice_bytes;
  block.owner = TenantId{plain.owner};
  block.created = plain.created;
  block.last_use = plain.last_use;
  block.pinned = plain.pinned == 1;
  if (!shape_is_possible(block) || plain.pinned > 1) return bad;
  return block;
}

RecordRow seal_record_row(const ScopeKeys& keys, const StoredRecord& record) {
  INVARIANT(record.bytes.size() <= kMaxRecordBytes);
  return {keys.tag(), record.kind, record.id,
          wrap(keys.row_key(), record.bytes, associated("record", keys.tag(), record.kind, record.id))};
}

Result<StoredRecord> open_record_row(const ScopeKeys& keys, const RecordRow& row) {
  ASSIGN_OR_RETURN(std::vector<std::uint8_t> bytes,
                   unwrap(keys.row_key(), row.sealed, associated("record", keys.tag(), row.kind, row.id)));
  return StoredRecord{keys.id(), row.kind, row.id, std::move(bytes)};
}

}  // namespace larder::storage
