// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/registry.h"

#include <algorithm>

#include "runtime/tenant/registry_state.h"
#include "storage/data_dir.h"
#include "storage/keyring_file.h"
#include "storage/seal.h"

namespace larder::tenant {
namespace {

Scope new_scope() {
  ScopeId id;
  ScopeSecret secret;
  storage::random_bytes(id);
  storage::random_bytes(secret);
  Scope scope = std::make_shared<const ScopeKeyMaterial>(id, secret);
  storage::wipe(secret);
  return scope;
}

Status check_name(std::string_view name, const char* whose) {
  const auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ' ' || c == '_' ||
           c == '.' || c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), allowed) || name.front() == ' ' ||
      name.back() == ' ') {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(whose) + " name has 1 to 64 letters, digits, spaces, dots, dashes or underscores", {}};
  }
  return {};
}

Error no_tenant(TenantId id) { return Error{ErrorCode::kNotFound, "no tenant " + std::to_string(id.value), {}}; }

Error full(const char* what, std::size_t most) {
  return Error{
      ErrorCode::kResourceExhausted, "there are " + std::to_string(most) + " " + what + " already; delete one", {}};
}

Digest256 hash_key_of(const Bytes<32>& master) { return storage::derive_key(master, "api keys"); }

std::string new_key_text(KeyId id) {
  constexpr char kDigits[] = "0123456789abcdef";
  Bytes<32> random;
  storage::random_bytes(random);
  std::string text = "lk-" + std::to_string(id.value) + "-";
  for (const std::uint8_t byte : random) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  storage::wipe(random);
  return text;
}

}  // namespace

Registry::Registry(std::string folder, const Clock& clock) : folder_(std::move(folder)), clock_(clock) {}

Registry::~Registry() { storage::wipe(master_); }

Result<std::unique_ptr<Registry>> Registry::open(const storage::DataDir& dir, const Clock& clock) {
  std::unique_ptr<Registry> registry(new Registry(dir.path(), clock));
  RETURN_IF_ERROR(registry->load());
  return registry;
}

Status Registry::load() {
  MutexLock change(change_mutex_);
  Result<storage::KeyringContent> content = storage::read_keyring(folder_);
  const bool none = !content.ok() && content.error().code == ErrorCode::kNotFound;
  if (!content.ok() && !none) return content.error();
  const Result<storage::SealKey> master = storage::read_master_key(folder_);
  if (!master.ok() && master.error().code == ErrorCode::kIo) return master.error();
  if (master.ok()) master_ = *master;
  bool ours = master.ok();
  if (ours && !none) {
    ASSIGN_OR_RETURN(ours, State::belongs_to(content->payload, master_));
  }
  const bool nothing_there = none && !master.ok() && master.error().code == ErrorCode::kNotFound;
  if (!ours && !nothing_there) {
    ASSIGN_OR_RETURN(const std::string aside, storage::set_keyring_aside(folder_));
    const char* why = master.ok() ? "belongs to another store"
                      : master.error().code == ErrorCode::kNotFound ? "is missing" : "is damaged";
    notices_.push_back(std::string("master.key ") + why +
                       ", so tenants, keys and cached state cannot be read; they were set aside in " + aside +
                       " and a new store was begun");
    return start_afresh();
  }
  if (none) return start_afresh();
  generation_ = content->generation;
  if (!content->notice.empty()) notices_.push_back(content->notice);
  ASSIGN_OR_RETURN(State state, State::decode(content->payload, master_));
  publish(std::make_shared<const State>(std::move(state)));
  return {};
}

Status Registry::start_afresh() {
  const Result<storage::SealKey> kept = storage::read_master_key(folder_);
  if (kept.ok()) {
    master_ = *kept;
  } else {
    storage::random_bytes(master_);
    RETURN_IF_ERROR(storage::write_master_key(folder_, master_));
  }
  auto first = std::make_shared<State>();
  first->tenants.emplace(kHome, TenantRecord{kHome, "home", 0, clock_.wall(), new_scope()});
  first->tenants.emplace(kLocal, TenantRecord{kLocal, "local", 0, clock_.wall(), new_scope()});
  first->next_tenant = 3;
  generation_ = 1;
  RETURN_IF_ERROR(storage::write_keyring(folder_, generation_, first->encode(master_)));
  publish(std::move(first));
  return {};
}

std::shared_ptr<const Registry::State> Registry::state() const {
  MutexLock lock(state_mutex_);
  return state_;
}

std::shared_ptr<Registry::State> Registry::next_state() const { return std::make_shared<State>(*state()); }

void Registry::publish(std::shared_ptr<const State> next) {
  std::unordered_map<KeyId, KeyRecord> records;
  for (const auto& [id, key] : next->keys) {
    KeyRecord record = key;
    record.tenant_name = next->tenants.at(key.tenant).name;
    records.emplace(id, std::move(record));
  }
  auto table = std::make_shared<const KeyTable>(hash_key_of(master_), std::move(records));
  {
    MutexLock lock(state_mutex_);
    state_ = std::move(next);
  }
  slot_.set(std::move(table));
}

Status Registry::commit(std::shared_ptr<State> next) {
  Status written = storage::write_keyring(folder_, ++generation_, next->encode(master_));
  if (!written.ok()) {
    // One copy may hold the change already; a newer generation of the old state makes the answer true.
    (void)storage::write_keyring(folder_, ++generation_, state()->encode(master_));
    return written;
  }
  publish(std::move(next));
  return {};
}

std::vector<TenantRecord> Registry::tenants() const {
  const std::shared_ptr<const State> now = state();
  std::vector<TenantRecord> list;
  for (const auto& [id, tenant] : now->tenants) list.push_back(tenant);
  return list;
}

Result<TenantRecord> Registry::tenant(TenantId id) const {
  const std::shared_ptr<const State> now = state();
  const auto found = now->tenants.find(id);
  if (found == now->tenants.end()) return no_tenant(id);
  return found->second;
}

Result<TenantRecord> Registry::tenant_named(std::string_view name) const {
  for (const TenantRecord& tenant : tenants()) {
    if (tenant.name == name) return tenant;
  }
  return Error{ErrorCode::kNotFound, "no tenant of that name", std::string(name.substr(0, 64))};
}

std::vector<ShareGroup> Registry::groups() const {
  const std::shared_ptr<const State> now = state();
  std::vector<ShareGroup> list;
  for (const auto& [id, group] : now->groups) list.push_back(group);
  return list;
}

std::vector<Scope> Registry::all_scopes() const {
  const std::shared_ptr<const State> now = state();
  std::vector<Scope> list;
  for (const auto& [id, tenant] : now->tenants) list.push_back(tenant.scope);
  for (const auto& [id, group] : now->groups) list.push_back(group.scope);
  return list;
}

Result<ScopeChain> Registry::scopes(TenantId id) const {
  const std::shared_ptr<const State> now = state();
  const auto tenant = now->tenants.find(id);
  if (tenant == now->tenants.end()) return no_tenant(id);
  ScopeChain chain;
  for (const auto& [group_id, group] : now->groups) {
    if (std::binary_search(group.members.begin(), group.members.end(), id)) chain.push_back(group.scope);
  }
  chain.push_back(tenant->second.scope);
  return chain;
}

Result<TenantRecord> Registry::create_tenant(std::string_view name, std::uint64_t quota_bytes) {
  RETURN_IF_ERROR(check_name(name, "a tenant's"));
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  if (next->tenants.size() >= kMaxTenants) return full("tenants", kMaxTenants);
  if (tenant_named(name).ok()) {
    return Error{ErrorCode::kConflict, "there is a tenant of that name", std::string(name)};
  }
  TenantRecord tenant{TenantId{next->next_tenant++}, std::string(name), quota_bytes, clock_.wall(), new_scope()};
  next->tenants.emplace(tenant.id, tenant);
  RETURN_IF_ERROR(commit(std::move(next)));
  return tenant;
}

Status Registry::set_quota(TenantId id, std::uint64_t quota_bytes) {
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  const auto found = next->tenants.find(id);
  if (found == next->tenants.end()) return no_tenant(id);
  found->second.quota_bytes = quota_bytes;
  return commit(std::move(next));
}

Status Registry::set_foreign(TenantId id, bool foreign) {
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  const auto found = next->tenants.find(id);
  if (found == next->tenants.end()) return no_tenant(id);
  found->second.foreign = foreign;
  return commit(std::move(next));
}

Result<ScopeId> Registry::delete_tenant(TenantId id) {
  if (id == kHome || id == kLocal) {
    return Error{ErrorCode::kConflict, "the tenants home and local stay; delete their keys instead", {}};
  }
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  const auto found = next->tenants.find(id);
  if (found == next->tenants.end()) return no_tenant(id);
  const ScopeId scope = found->second.scope->id();
  next->tenants.erase(found);
  std::erase_if(next->keys, [id](const auto& key) { return key.second.tenant == id; });
  for (auto& [group_id, group] : next->groups) std::erase(group.members, id);
  RETURN_IF_ERROR(commit(std::move(next)));
  return scope;
}

Result<NewKey> Registry::create_key(TenantId id, std::string_view label, bool admin, bool ephemeral) {
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
  if (label.size() > 64 || std::any_of(label.begin(), label.end(), control)) {
    return Error{ErrorCode::kInvalidArgument, "a key's label has at most 64 bytes and no control characters", {}};
  }
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  if (!next->tenants.contains(id)) return no_tenant(id);
  if (next->keys.size() >= kMaxKeys) return full("keys", kMaxKeys);
  NewKey key;
  key.record.id = KeyId{next->next_key++};
  key.secret = new_key_text(key.record.id);
  constexpr std::size_t kShown = 6;
  key.record.prefix = key.secret.substr(0, key.secret.rfind('-') + 1 + kShown);
  key.record.tenant = id;
  key.record.tenant_name = next->tenants.at(id).name;
  key.record.label = label;
  key.record.admin = admin;
  key.record.ephemeral = ephemeral;
  key.record.created = clock_.wall();
  key.record.hash = storage::keyed_hash(
      hash_key_of(master_), {reinterpret_cast<const std::uint8_t*>(key.secret.data()), key.secret.size()});
  next->keys.emplace(key.record.id, key.record);
  if (ephemeral) {
    publish(std::move(next));
  } else {
    RETURN_IF_ERROR(commit(std::move(next)));
  }
  return key;
}

Status Registry::revoke_key(KeyId id) {
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  const auto found = next->keys.find(id);
  if (found == next->keys.end()) return Error{ErrorCode::kNotFound, "no key " + std::to_string(id.value), {}};
  const bool ephemeral = found->second.ephemeral;
  next->keys.erase(found);
  if (!ephemeral) return commit(std::move(next));
  publish(std::move(next));
  return {};
}

void Registry::touch_key(KeyId id, WallTime at) {
  const bool known = keys()->records().contains(id);
  MutexLock lock(state_mutex_);
  if (known) last_used_[id] = at;
}

WallTime Registry::last_used(KeyId id) const {
  MutexLock lock(state_mutex_);
  const auto found = last_used_.find(id);
  return found == last_used_.end() ? 0 : found->second;
}

Result<ShareGroup> Registry::create_group(std::string_view name, std::vector<TenantId> members) {
  RETURN_IF_ERROR(check_name(name, "a share group's"));
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  if (next->groups.size() >= kMaxGroups) return full("share groups", kMaxGroups);
  for (const TenantId member : members) {
    if (!next->tenants.contains(member)) return no_tenant(member);
  }
  for (const auto& [id, group] : next->groups) {
    if (group.name == name)
      return Error{ErrorCode::kConflict, "there is a share group of that name", std::string(name)};
  }
  ShareGroup group{next->next_group++, std::string(name), clock_.wall(), new_scope(), std::move(members)};
  next->groups.emplace(group.id, group);
  RETURN_IF_ERROR(commit(std::move(next)));
  return group;
}

Result<ScopeId> Registry::delete_group(std::uint32_t id) {
  MutexLock change(change_mutex_);
  std::shared_ptr<State> next = next_state();
  const auto found = next->groups.find(id);
  if (found == next->groups.end()) return Error{ErrorCode::kNotFound, "no share group " + std::to_string(id), {}};
  const ScopeId scope = found->second.scope->id();
  next->groups.erase(found);
  RETURN_IF_ERROR(commit(std::move(next)));
  return scope;
}

}  // namespace larder::tenant
