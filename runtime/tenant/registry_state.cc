// SPDX-License-Identifier: Apache-2.0
#include "runtime/tenant/registry_state.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace larder::tenant {
namespace {

enum class Kind : std::uint8_t { kMeta = 1, kTenant = 2, kKey = 3, kGroup = 4 };
constexpr std::size_t kMaxText = 1024;

Error corrupt(const std::string& what) {
  return Error{ErrorCode::kCorrupt, "the keyring is damaged: " + what + "; restore it from a backup", {}};
}

class Writer {
 public:
  template <typename Number>
  void number(Number value) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    out_.insert(out_.end(), bytes, bytes + sizeof value);
  }
  void raw(std::span<const std::uint8_t> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  void text(const std::string& value) {
    number(static_cast<std::uint16_t>(value.size()));
    raw({reinterpret_cast<const std::uint8_t*>(value.data()), value.size()});
  }
  void record(Kind kind, const Writer& body) {
    number(static_cast<std::uint8_t>(kind));
    number(static_cast<std::uint32_t>(body.out_.size()));
    raw(body.out_);
  }
  std::vector<std::uint8_t> take() { return std::move(out_); }

 private:
  std::vector<std::uint8_t> out_;
};

// Reads past the end give zeros and make ok() false for good.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  template <typename Number>
  Number number() {
    Number value{};
    const std::span<const std::uint8_t> bytes = raw(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::uint8_t> raw(std::size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::span<const std::uint8_t> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  template <std::size_t N>
  Bytes<N> bytes() {
    Bytes<N> value{};
    const std::span<const std::uint8_t> taken = raw(N);
    if (ok_) std::copy(taken.begin(), taken.end(), value.begin());
    return value;
  }
  std::string text() {
    const auto size = number<std::uint16_t>();
    if (size > kMaxText) ok_ = false;
    const std::span<const std::uint8_t> taken = raw(size);
    return {taken.begin(), taken.end()};
  }
  bool at_end() const { return rest_.empty(); }
  bool whole() const { return ok_ && rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::span<const std::uint8_t> rest_;
  bool ok_ = true;
};

Digest256 check_of(const storage::SealKey& master) { return storage::derive_key(master, "check"); }

// Binds a wrapped secret to its scope, so that two scopes' secrets cannot be exchanged.
void write_scope(Writer& body, const ScopeKeyMaterial& scope, const storage::SealKey& wrap_key) {
  body.raw(scope.id());
  body.raw(storage::wrap(wrap_key, scope.secret(), scope.id()));
}

Result<Scope> read_scope(Reader& body, const storage::SealKey& wrap_key) {
  const auto id = body.bytes<16>();
  const std::span<const std::uint8_t> wrapped = body.raw(sizeof(ScopeSecret) + storage::kWrapOverhead);
  if (!body.ok()) return corrupt("a scope is cut short");
  ASSIGN_OR_RETURN(std::vector<std::uint8_t> plain, storage::unwrap(wrap_key, wrapped, id));
  ScopeSecret secret;
  std::copy(plain.begin(), plain.end(), secret.begin());
  Scope scope = std::make_shared<const ScopeKeyMaterial>(id, secret);
  storage::wipe(plain);
  storage::wipe(secret);
  return scope;
}

Status read_tenant(Reader body, const storage::SealKey& wrap_key, Registry::State& state) {
  TenantRecord tenant;
  tenant.id.value = body.number<std::uint32_t>();
  tenant.name = body.text();
  tenant.quota_bytes = body.number<std::uint64_t>();
  tenant.created = body.number<std::int64_t>();
  ASSIGN_OR_RETURN(tenant.scope, read_scope(body, wrap_key));
  if (!body.at_end()) tenant.foreign = body.number<std::uint8_t>() == 1;  // there only where it is set
  if (!body.whole()) return corrupt("a tenant's record has the wrong length");
  const TenantId id = tenant.id;
  if (!state.tenants.emplace(id, std::move(tenant)).second) return corrupt("a tenant is there twice");
  return {};
}

Status read_key(Reader body, Registry::State& state) {
  KeyRecord key;
  key.id.value = body.number<std::uint32_t>();
  key.tenant.value = body.number<std::uint32_t>();
  key.label = body.text();
  key.prefix = body.text();
  key.admin = body.number<std::uint8_t>() == 1;
  key.created = body.number<std::int64_t>();
  key.hash = body.bytes<32>();
  if (!body.whole()) return corrupt("a key's record has the wrong length");
  const KeyId id = key.id;
  if (!state.keys.emplace(id, std::move(key)).second) return corrupt("a key is there twice");
  return {};
}

Status read_group(Reader body, const storage::SealKey& wrap_key, Registry::State& state) {
  ShareGroup group;
  group.id = body.number<std::uint32_t>();
  group.name = body.text();
  group.created = body.number<std::int64_t>();
  ASSIGN_OR_RETURN(group.scope, read_scope(body, wrap_key));
  const auto members = body.number<std::uint32_t>();
  if (members > kMaxTenants) return corrupt("a share group has too many members");
  for (std::uint32_t i = 0; i < members; ++i) group.members.push_back(TenantId{body.number<std::uint32_t>()});
  if (!body.whole()) return corrupt("a share group's record has the wrong length");
  const std::uint32_t id = group.id;
  if (!state.groups.emplace(id, std::move(group)).second) return corrupt("a share group is there twice");
  return {};
}

// Every id that is named is there, and below the next one to give.
Status check_links(const Registry::State& state) {
  for (const auto& [id, tenant] : state.tenants) {
    if (id.value == 0 || id.value >= state.next_tenant) return corrupt("a tenant's id was never given");
  }
  for (const auto& [id, key] : state.keys) {
    if (id.value == 0 || id.value >= state.next_key) return corrupt("a key's id was never given");
    if (!state.tenants.contains(key.tenant)) return corrupt("a key belongs to nobody");
  }
  for (const auto& [id, group] : state.groups) {
    if (id == 0 || id >= state.next_group) return corrupt("a share group's id was never given");
    for (const TenantId member : group.members) {
      if (!state.tenants.contains(member)) return corrupt("a share group has a member who is not there");
    }
  }
  if (!state.tenants.contains(kHome) || !state.tenants.contains(kLocal)) return corrupt("home or local is missing");
  if (state.tenants.size() > kMaxTenants || state.keys.size() > kMaxKeys || state.groups.size() > kMaxGroups) {
    return corrupt("it holds more than may be");
  }
  return {};
}

}  // namespace

std::vector<std::uint8_t> Registry::State::encode(const storage::SealKey& master) const {
  const storage::SealKey wrap_key = storage::derive_key(master, "scope secrets");
  Writer out;
  Writer meta;
  meta.raw(check_of(master));
  meta.number(next_tenant);
  meta.number(next_key);
  meta.number(next_group);
  meta.number(static_cast<std::uint32_t>(tenants.size()));
  meta.number(static_cast<std::uint32_t>(
      std::count_if(keys.begin(), keys.end(), [](const auto& key) { return !key.second.ephemeral; })));
  meta.number(static_cast<std::uint32_t>(groups.size()));
  out.record(Kind::kMeta, meta);
  for (const auto& [id, tenant] : tenants) {
    Writer body;
    body.number(id.value);
    body.text(tenant.name);
    body.number(tenant.quota_bytes);
    body.number(tenant.created);
    write_scope(body, *tenant.scope, wrap_key);
    if (tenant.foreign) body.number(std::uint8_t{1});
    out.record(Kind::kTenant, body);
  }
  for (const auto& [id, key] : keys) {
    if (key.ephemeral) continue;
    Writer body;
    body.number(id.value);
    body.number(key.tenant.value);
    body.text(key.label);
    body.text(key.prefix);
    body.number(static_cast<std::uint8_t>(key.admin ? 1 : 0));
    body.number(key.created);
    body.raw(key.hash);
    out.record(Kind::kKey, body);
  }
  for (const auto& [id, group] : groups) {
    Writer body;
    body.number(id);
    body.text(group.name);
    body.number(group.created);
    write_scope(body, *group.scope, wrap_key);
    body.number(static_cast<std::uint32_t>(group.members.size()));
    for (const TenantId member : group.members) body.number(member.value);
    out.record(Kind::kGroup, body);
  }
  return out.take();
}

Result<bool> Registry::State::belongs_to(std::span<const std::uint8_t> payload, const storage::SealKey& master) {
  Reader reader(payload);
  const bool meta = reader.number<std::uint8_t>() == static_cast<std::uint8_t>(Kind::kMeta);
  (void)reader.number<std::uint32_t>();
  const Digest256 check = reader.bytes<32>();
  if (!reader.ok() || !meta) return corrupt("its first record is not the one it should be");
  return storage::equal_constant_time(check, check_of(master));
}

Result<Registry::State> Registry::State::decode(std::span<const std::uint8_t> payload, const storage::SealKey& master) {
  const storage::SealKey wrap_key = storage::derive_key(master, "scope secrets");
  State state;
  Reader reader(payload);
  bool first = true;
  std::uint32_t counts[3] = {};  // of tenants, keys and groups, so that lost records are noticed
  while (!reader.at_end()) {
    const auto kind = static_cast<Kind>(reader.number<std::uint8_t>());
    Reader body(reader.raw(reader.number<std::uint32_t>()));
    if (!reader.ok()) return corrupt("a record is cut short");
    if (first != (kind == Kind::kMeta)) return corrupt("its first record is not the one it should be");
    first = false;
    switch (kind) {
      case Kind::kMeta:
        (void)body.bytes<32>();
        state.next_tenant = body.number<std::uint32_t>();
        state.next_key = body.number<std::uint32_t>();
        state.next_group = body.number<std::uint32_t>();
        for (std::uint32_t& count : counts) count = body.number<std::uint32_t>();
        if (!body.whole()) return corrupt("its first record has the wrong length");
        break;
      case Kind::kTenant: RETURN_IF_ERROR(read_tenant(body, wrap_key, state)); break;
      case Kind::kKey: RETURN_IF_ERROR(read_key(body, state)); break;
      case Kind::kGroup: RETURN_IF_ERROR(read_group(body, wrap_key, state)); break;
      default: return corrupt("it has a record of unknown kind " + std::to_string(static_cast<int>(kind)));
    }
  }
  if (counts[0] != state.tenants.size() || counts[1] != state.keys.size() || counts[2] != state.groups.size()) {
    return corrupt("records are missing");
  }
  RETURN_IF_ERROR(check_links(state));
  return state;
}

}  // namespace larder::tenant
