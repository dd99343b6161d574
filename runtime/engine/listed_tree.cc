// SPDX-License-Identifier: Apache-2.0
#include "runtime/engine/listed_tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include "runtime/engine/stored_identities.h"

namespace larder::engine {
namespace {

using storage::StoredBlock;
using storage::StoredRecord;

kv::ColdBlock cold_from(const StoredBlock& stored, const kv::Identity& identity) {
  kv::ColdBlock cold;
  cold.lineage = identity.lineage;
  cold.by_name = identity.by_name;
  cold.foreign = identity.foreign;
  cold.scope = stored.scope;
  cold.key = stored.key;
  cold.parent = stored.parent;
  cold.first_position = stored.first_position;
  cold.valid = stored.valid_tokens;
  cold.tokens = stored.tokens;
  cold.owner = stored.owner;
  cold.created = stored.created;
  cold.pinned = stored.pinned;
  return cold;
}

// The blocks that may be in the tree, of `own`: those worth most, each with all above it.
std::vector<bool> chosen(const std::vector<const StoredBlock*>& own, std::size_t most) {
  std::vector<bool> in(own.size(), own.size() <= most);
  if (own.size() <= most) return in;
  std::unordered_map<BlockKey, std::size_t, DigestHash> places;
  std::vector<std::size_t> order(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    places.emplace(own[i]->key, i);
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&own](std::size_t a, std::size_t b) {
    return std::pair(own[a]->pinned, own[a]->last_use) > std::pair(own[b]->pinned, own[b]->last_use);
  });
  std::size_t taken = 0;
  std::vector<std::size_t> way;
  for (const std::size_t wanted : order) {
    way.clear();
    for (auto at = places.find(own[wanted]->key); at != places.end() && !in[at->second];
         at = places.find(own[at->second]->parent)) {
      way.push_back(at->second);
    }
    if (taken + way.size() > most) continue;
    for (const std::size_t one : way) in[one] = true;
    taken += way.size();
    if (taken == most) break;
  }
  return in;
}

std::vector<kv::ColdBlock> own_blocks(const storage::StoreListing& listing, const kv::Identity& identity,
                                      const Digest256& digest, std::size_t most, std::uint64_t& left_out) {
  std::unordered_map<BlockKey, std::string, DigestHash> labels;
  for (const StoredRecord& record : listing.records) {
    BlockKey key{};
    if (record.kind != kLabelRecord || record.bytes.size() < key.size()) continue;
    std::copy_n(record.bytes.begin(), key.size(), key.begin());
    labels[key].assign(record.bytes.begin() + static_cast<std::ptrdiff_t>(key.size()), record.bytes.end());
  }
  std::vector<const StoredBlock*> own;
  for (const StoredBlock& stored : listing.blocks) {
    if (stored.identity == digest) own.push_back(&stored);
  }
  const std::vector<bool> in = chosen(own, most);
  std::vector<kv::ColdBlock> blocks;
  blocks.reserve(std::min(own.size(), most));
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!in[i]) continue;
    blocks.push_back(cold_from(*own[i], identity));
    if (const auto label = labels.find(own[i]->key); label != labels.end()) blocks.back().label = label->second;
  }
  left_out = own.size() - blocks.size();
  return blocks;
}

// Whole blocks of identities that their records name, as far as their keys prove it.
void add_others(ListedTree& tree, const storage::StoreListing& listing, std::span<const tenant::Scope> scopes,
                const Digest256& own) {
  std::map<Digest256, std::shared_ptr<const kv::Identity>> named;
  for (const StoredRecord& record : listing.records) {
    if (record.kind != kIdentityRecord) continue;
    if (const auto identity = identity_from(record.bytes)) {
      named.emplace(kv::identity_digest(*identity), std::make_shared<const kv::Identity>(*identity));
    }
  }
  std::map<Digest256, std::vector<kv::ColdBlock>> by_identity;
  std::size_t count = 0;
  for (const StoredBlock& stored : listing.blocks) {  // starts of prompts come first
    if (stored.identity == own || stored.valid_tokens != kernels::kBlockTokens) continue;
    if (!named.contains(stored.identity) || ++count > kMaxOthers) continue;
    by_identity[stored.identity].push_back(cold_from(stored, *named[stored.identity]));
  }
  for (auto& [digest, blocks] : by_identity) {
    std::vector<kv::StoredName> unproved;
    for (const kv::ChainedBlock& block : kv::chain_listing(std::move(blocks), scopes, *named[digest], unproved)) {
      tree.others.push_back({block.chain, block.cold.scope, named[digest]});
    }
  }
}

void add_by_name(ListedTree& tree, const kv::Identity& identity, const std::set<Digest256>& present) {
  for (const kernels::KvScheme scheme : {kernels::KvScheme::kInt8, kernels::KvScheme::kInt4}) {
    kv::Identity rounded = identity;
    rounded.lineage = scheme;
    rounded.by_name = true;
    if (present.contains(kv::identity_digest(rounded))) tree.by_name.push_back(scheme);
  }
}

void add_foreign(ListedTree& tree, const storage::StoreListing& listing, const kv::Identity& own,
                 const std::set<Digest256>& present) {
  std::map<std::string, kv::Identity> by_arithmetic;
  for (const StoredRecord& record : listing.records) {
    if (record.kind != kIdentityRecord) continue;
    const auto identity = identity_from(record.bytes);
    if (!identity || !present.contains(kv::identity_digest(*identity))) continue;
    kv::Identity as_own = *identity;
    as_own.arithmetic_id = own.arithmetic_id;
    if (as_own == own && *identity != own) by_arithmetic.emplace(identity->arithmetic_id, *identity);
  }
  for (auto& [arithmetic, identity] : by_arithmetic) tree.foreign.push_back(std::move(identity));
}

void add_stale(ListedTree& tree, const storage::StoreListing& listing, const std::set<Digest256>& present) {
  for (const StoredRecord& record : listing.records) {
    if (record.kind != kIdentityRecord) continue;
    const auto identity = identity_from(record.bytes);
    if (identity && present.contains(kv::identity_digest(*identity))) continue;
    tree.stale_identities.emplace_back(record.scope, record.id);
  }
}

}  // namespace

ListedTree listed_tree(const storage::StoreListing& listing, std::span<const tenant::Scope> scopes,
                       const kv::Identity& identity, std::size_t most) {
  ListedTree tree;
  const Digest256 own = kv::identity_digest(identity);
  tree.blocks = kv::chain_listing(own_blocks(listing, identity, own, most, tree.left_out), scopes, identity, tree.lost);
  add_others(tree, listing, scopes, own);
  std::set<Digest256> present;
  for (const StoredBlock& stored : listing.blocks) present.insert(stored.identity);
  add_by_name(tree, identity, present);
  add_foreign(tree, listing, identity, present);
  add_stale(tree, listing, present);
  return tree;
}

}  // namespace larder::engine
