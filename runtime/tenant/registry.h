// SPDX-License-Identifier: Apache-2.0
// Registry: tenants, their scopes, keys, quotas and share groups, kept in the data folder's keyring. The first run
// makes the tenants `home` and `local` (keyless loopback). A change is durable in both copies before its method
// answers ok. What it is not: it holds no blocks; whoever deletes a tenant or a group erases the returned scope from
// the caches.
// Errors:   kInvalidArgument, kNotFound, kConflict (name taken, `home` and `local` stay), kIo; after an error nothing
//           has changed. open: kUnsupported (a newer version; the folder is left untouched), kCorrupt (both copies
//           bad).
// Threads:  any. Changes wait for each other and for the disk, so make them off the engine thread; reads take one short
//           lock and never wait for the disk.    Bounds: kMaxTenants, kMaxKeys, kMaxGroups.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ids.h"
#include "runtime/base/mutex.h"
#include "runtime/base/result.h"
#include "runtime/tenant/key_table.h"
#include "runtime/tenant/scope.h"

namespace larder::storage {
class DataDir;
}

namespace larder::tenant {

inline constexpr std::size_t kMaxTenants = 1024;
inline constexpr std::size_t kMaxKeys = 4096;
inline constexpr std::size_t kMaxGroups = 256;
inline constexpr TenantId kHome{1};
inline constexpr TenantId kLocal{2};

struct TenantRecord {
  TenantId id{};
  std::string name;  // 1..64 of [A-Za-z0-9 _.-], unique
  std::uint64_t quota_bytes = 0;  // 0: none
  WallTime created = 0;
  Scope scope;
  bool foreign = false;  // may reuse KV that another arithmetic of the same model computed
};

struct ShareGroup {
  std::uint32_t id = 0;
  std::string name;  // as a tenant's, unique among groups
  WallTime created = 0;
  Scope scope;
  std::vector<TenantId> members;  // ascending
};

struct NewKey {
  KeyRecord record;
  std::string secret;  // the whole key; shown once, kept nowhere
};

class Registry {
 public:
  struct State;  // registry_state.h, inside this room

  // `clock` outlives the registry, `dir` is only read during open (its path is kept).
  static Result<std::unique_ptr<Registry>> open(const storage::DataDir& dir, const Clock& clock);
  ~Registry();

  // What open had to say: a copy that was mended, a store set aside because its master key is lost. One sentence each.
  const std::vector<std::string>& notices() const { return notices_; }

  std::shared_ptr<const KeyTable> keys() const { return slot_.get(); }
  Result<KeyRecord> authenticate(std::string_view key) const { return keys()->find(key); }

  std::vector<TenantRecord> tenants() const;
  Result<TenantRecord> tenant(TenantId id) const;
  Result<TenantRecord> tenant_named(std::string_view name) const;
  std::vector<ShareGroup> groups() const;
  std::vector<Scope> all_scopes() const;  // of tenants and groups
  // Shared scopes first, the tenant's own last. Errors: kNotFound.
  Result<ScopeChain> scopes(TenantId id) const;

  Result<TenantRecord> create_tenant(std::string_view name, std::uint64_t quota_bytes);
  Status set_quota(TenantId id, std::uint64_t quota_bytes);
  Status set_foreign(TenantId id, bool foreign);
  // Its keys stop working and its secret is destroyed first. Answers the scope whose blocks must go.
  Result<ScopeId> delete_tenant(TenantId id);

  // An ephemeral key lives in memory only and its id is never used by a stored key of this process.
  Result<NewKey> create_key(TenantId id, std::string_view label, bool admin, bool ephemeral);
  Status revoke_key(KeyId id);
  void touch_key(KeyId id, WallTime at);  // remembers the last use, in memory
  WallTime last_used(KeyId id) const;     // 0: not since the start

  Result<ShareGroup> create_group(std::string_view name, std::vector<TenantId> members);
  Result<ScopeId> delete_group(std::uint32_t id);

 private:
  Registry(std::string folder, const Clock& clock);
  Status load() EXCLUDES(change_mutex_);
  Status start_afresh() REQUIRES(change_mutex_);
  Status commit(std::shared_ptr<State> next) REQUIRES(change_mutex_);
  std::shared_ptr<State> next_state() const;
  std::shared_ptr<const State> state() const EXCLUDES(state_mutex_);
  void publish(std::shared_ptr<const State> next) EXCLUDES(state_mutex_);

  const std::string folder_;
  const Clock& clock_;
  std::vector<std::string> notices_;
  Bytes<32> master_{};

  Mutex change_mutex_;  // one change at a time, held over the disk write; taken before state_mutex_
  std::uint64_t generation_ GUARDED_BY(change_mutex_) = 0;
  mutable Mutex state_mutex_;
  std::shared_ptr<const State> state_ GUARDED_BY(state_mutex_);
  std::unordered_map<KeyId, WallTime> last_used_ GUARDED_BY(state_mutex_);
  KeyTableSlot slot_;
};

}  // namespace larder::tenant
