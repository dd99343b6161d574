// SPDX-License-Identifier: Apache-2.0
#include "runtime/kv/cold_block.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace larder::kv {
namespace {

using kernels::kBlockTokens;

bool well_formed(const ColdBlock& cold) {
  return cold.valid >= 1 && cold.valid <= kBlockTokens && cold.first_position % kBlockTokens == 0;
}

}  // namespace

std::vector<ChainedBlock> chain_listing(std::vector<ColdBlock> listed, std::span<const tenant::Scope> scopes,
                                        const Identity& identity, std::vector<StoredName>& lost) {
  std::vector<ChainedBlock> chained;
  chained.reserve(listed.size());
  std::unordered_map<BlockKey, std::size_t, DigestHash> places;
  for (ColdBlock& cold : listed) {
    const auto scope =
        std::find_if(scopes.begin(), scopes.end(), [&](const tenant::Scope& each) { return each->id() == cold.scope; });
    const auto above = places.find(cold.parent);
    const bool has_parent = cold.first_position == 0 || above != places.end();
    ChainedBlock block;
    bool right = scope != scopes.end() && has_parent && well_formed(cold);
    if (right && cold.first_position > 0) {
      const ColdBlock& parent = chained[above->second].cold;
      right = parent.scope == cold.scope && parent.valid == kBlockTokens &&
              parent.first_position + kBlockTokens == cold.first_position;
    }
    if (right) {
      block.parent = cold.first_position == 0 ? cold.parent : chained[above->second].chain;
      block.chain = next_key((*scope)->secret(), block.parent, {cold.tokens.data(), cold.valid});
      right = block_key((*scope)->secret(), identity, block.chain) == cold.key;
    }
    if (!right) {
      lost.push_back({cold.scope, cold.key});
      continue;
    }
    block.owner_of_keys = *scope;
    block.cold = std::move(cold);
    places.emplace(block.cold.key, chained.size());
    chained.push_back(std::move(block));
  }
  return chained;
}

}  // namespace larder::kv
