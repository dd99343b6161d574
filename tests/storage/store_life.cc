// SPDX-License-Identifier: Apache-2.0
#include "tests/storage/store_life.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace larder::storage::test {
namespace {

using larder::test::MemoryResume;

constexpr std::byte kUntouched{0xee};
constexpr auto kLongest = std::chrono::seconds(20);  // for an answer; many times what one takes
constexpr kernels::KvLayout kHalves{2, 1, 32, kernels::KvType::kF16};

std::uint32_t halve(const kernels::KvEncodeArgs& args) {
  const std::size_t size = kernels::coded_slice_bytes(args.scheme, args.layout);
  for (std::size_t i = 0; i < size; ++i) args.coded[i] = args.exact[2 * i % args.layout.slice_bytes()];
  return 0;
}

void unhalve(const kernels::KvDecodeArgs& args) {
  const std::size_t size = kernels::coded_slice_bytes(args.scheme, args.layout);
  for (std::size_t i = 0; i < args.layout.slice_bytes(); ++i) args.exact[i] = args.coded[i / 2 % size];
}

std::string name_of(const StoredBlock& block) {
  return "scope " + std::to_string(block.scope[0]) + " key " + std::to_string(block.key[0]) + " position " +
         std::to_string(block.first_position);
}

}  // namespace

kernels::KvCodecKernels halving_codec() { return {halve, unhalve}; }

LifeBlock exact_block(std::uint64_t chain, std::uint64_t n, std::uint64_t scope, std::uint32_t slice_bytes) {
  LifeBlock made{block_of(chain, n, 4, slice_bytes, scope), {}, {}, {}};
  made.put = payload_of(made.block);
  made.back = made.put;
  return made;
}

LifeBlock coded_block(std::uint64_t chain, std::uint64_t n) {
  constexpr auto kScheme = kernels::KvScheme::kInt8;
  const auto coded_bytes = static_cast<std::uint32_t>(kernels::coded_slice_bytes(kScheme, kHalves));
  LifeBlock made{block_of(chain, n, static_cast<std::uint32_t>(kHalves.slice_count()), coded_bytes), kHalves, {}, {}};
  made.block.scheme = static_cast<std::uint32_t>(kScheme);
  for (std::size_t i = 0; i < kHalves.block_bytes(); ++i) {
    made.put.push_back(static_cast<std::byte>(Rng::at(8, chain * 1000 + n, i)));
  }
  made.back.resize(made.put.size());
  std::vector<std::byte> coded(coded_bytes);
  for (std::size_t at = 0; at < made.put.size(); at += kHalves.slice_bytes()) {
    halve({kHalves, kScheme, made.put.data() + at, coded.data(), nullptr});
    unhalve({kHalves, kScheme, coded.data(), made.back.data() + at, nullptr});
  }
  return made;
}

StoreLife::StoreLife(Disk& disk) : StoreLife(disk, Ledger{}) {}
StoreLife::StoreLife(Disk& disk, Ledger ledger, std::string folder)
    : disk_(disk), ledger_(std::move(ledger)), folder_(std::move(folder)) {}
StoreLife::~StoreLife() = default;

void StoreLife::fault(std::string what) {
  if (faults_.size() < 20) faults_.push_back(std::move(what));
}

// A call into the store; where it runs out of memory it took nothing, and is made again.
template <typename Call>
auto StoreLife::call(Call what) {
  for (;;) {
    try {
      const MemoryResume resume;
      return what(*store_);
    } catch (const std::bad_alloc&) {
      ++refused_;
    }
  }
}

bool StoreLife::open(std::uint64_t cap_bytes) {
  StoreConfig config;
  config.folder = folder_;
  config.limits.keep_free_bytes = 1;
  config.limits.cap_bytes = cap_bytes;
  config.segment_bytes = 128u << 10;
  config.codec = halving_codec();
  std::vector<StoreScope> scopes;
  for (const std::uint64_t scope : ledger_.scopes) scopes.push_back(scope_of(scope));
  const std::function<void()> wake = [this] {
    MutexLock lock(mutex_);
    woken_ = true;
    arrived_.notify_all();
  };
  told_ = {};
  Result<std::unique_ptr<BlockStore>> opened = Error{};
  {
    const MemoryResume resume;
    opened = BlockStore::open(std::move(config), std::move(scopes), disk_, clock_, wake);
  }
  error_ = opened.ok() ? "" : to_string(opened.error());
  if (opened.ok()) store_ = std::move(opened).value();
  return store_ != nullptr;
}

void StoreLife::close() {
  if (store_ != nullptr) gather();
  const MemoryResume resume;
  store_.reset();
}

StoreLife::Known& StoreLife::known(const LifeBlock& block) {
  Known& found = ledger_.blocks[block.block.key];
  if (found.made.put.empty()) found.made = block;
  return found;
}

std::uint64_t StoreLife::ask(const LifeBlock* block) {
  Asked& asked = asked_[next_];
  if (block != nullptr) asked.block = &known(*block).made;
  return next_++;
}

void StoreLife::gather() {
  std::vector<StoreEvent> events;
  call([&](BlockStore& store) { store.drain(events); });
  for (StoreEvent& event : events) on_event(std::move(event));
}

void StoreLife::on_event(StoreEvent event) {
  if (event.kind == StoreEvent::Kind::kEvicted) {
    ++told_.evicted_blocks;
    const auto found = ledger_.blocks.find(event.key);
    const bool expected = found != ledger_.blocks.end() && (found->second.durable || found->second.dropped);
    if (!expected) return fault("evicted what was not there");
    const bool first = found->second.damaged && !found->second.dropped;
    if (found->second.pinned && !found->second.damaged) fault("evicted what is pinned");
    found->second.durable = found->second.dropped = false;
    found->second.evicted = first;
    if (!event.error.empty()) ++refused_;
    return;
  }
  const auto found = asked_.find(event.ticket);
  if (found == asked_.end()) return fault("an answer nobody asked for: ticket " + std::to_string(event.ticket));
  Asked& asked = found->second;
  if (asked.answer) return fault("two answers to ticket " + std::to_string(event.ticket));
  if (event.kind == StoreEvent::Kind::kCopied) {
    if (asked.copied) fault("copied twice");
    asked.copied = true;
    return;
  }
  on_final(asked, event);
  asked.answer = std::move(event);
}

void StoreLife::on_final(Asked& asked, const StoreEvent& event) {
  switch (event.kind) {
    case StoreEvent::Kind::kDurable:
    case StoreEvent::Kind::kRefused:
      return on_put(asked, event);
    case StoreEvent::Kind::kRead:
    case StoreEvent::Kind::kMissed:
      return on_read(asked, event);
    default:
      if (event.error.empty()) return;
      ++refused_;
      if (strict) fault("not done: " + event.error);
  }
}

void StoreLife::on_put(const Asked& asked, const StoreEvent& event) {
  Known& block = known(*asked.block);
  if (event.kind == StoreEvent::Kind::kDurable) {
    ++told_.stored_blocks;
    if (block.durable) fault("durable twice: " + name_of(asked.block->block));
    block.durable = true;
    block.damaged = false;
    block.pinned = asked.block->block.pinned;
    return;
  }
  ++told_.refused[static_cast<std::size_t>(event.refusal)];
  ++refused_;
  const bool there = event.refusal == Refusal::kAlreadyThere;
  if (there != block.durable) fault(std::string("refused as ") + refusal_name(event.refusal));
  if (strict) fault(std::string("refused: ") + refusal_name(event.refusal) + ", " + name_of(asked.block->block));
}

void StoreLife::on_read(const Asked& asked, const StoreEvent& event) {
  Known& block = known(*asked.block);
  const std::string name = name_of(asked.block->block);
  if (event.kind == StoreEvent::Kind::kRead) {
    ++told_.read_blocks;
    told_.read_bytes += event.bytes;
    if (asked.into != asked.block->back) fault("wrong bytes served: " + name);
    if (!block.durable) fault("served what is not there: " + name);
    if (block.damaged) fault("served what is damaged: " + name);
    return;
  }
  ++told_.missed[static_cast<std::size_t>(event.miss)];
  const auto clean = [](std::byte byte) { return byte == std::byte{0} || byte == kUntouched; };
  if (!std::all_of(asked.into.begin(), asked.into.end(), clean)) fault("a miss left bytes: " + name);
  if (block.damaged && is_damage(event.miss)) {
    ++told_.damaged_blocks;
    if (!block.durable && !block.evicted) fault("damaged and not there: " + name);
    block.dropped = !block.evicted;
    block.durable = block.evicted = false;
    return;
  }
  if (!block.durable) {
    const bool named = event.miss == Miss::kNotStored || event.miss == Miss::kScopeGone;
    const bool unknown = event.miss == Miss::kUnknownScope;  // shredded before the restart
    if (!named && !unknown) fault(std::string("missed as ") + miss_name(event.miss) + ": " + name);
    return;
  }
  ++refused_;
  if (strict || event.miss != Miss::kReadFailed) {
    fault(std::string("durable and missed as ") + miss_name(event.miss) + ": " + name);
  }
}

StoreEvent StoreLife::wait(std::uint64_t ticket) {
  const auto deadline = deadline_after(kLongest);
  for (bool in_time = true; !lost_;) {
    gather();
    if (asked_[ticket].answer) return *asked_[ticket].answer;
    if (!in_time) {
      fault("no answer to ticket " + std::to_string(ticket));
      lost_ = true;
    }
    MutexLock lock(mutex_);
    while (!woken_ && in_time) in_time = arrived_.wait_until(mutex_, deadline);
    woken_ = false;
  }
  return {};
}

bool StoreLife::done(std::uint64_t ticket) {
  const StoreEvent answer = wait(ticket);
  return !lost_ && answer.error.empty();
}

void StoreLife::put(const std::vector<LifeBlock>& blocks) {
  std::vector<PutBlock> puts;
  for (const LifeBlock& block : blocks) {
    const std::uint64_t ticket = ask(&block);
    const LifeBlock& kept = *asked_[ticket].block;
    puts.push_back({kept.block, kept.put, 0, true, ticket, kept.layout});
  }
  const std::size_t taken = call([&](BlockStore& store) { return store.put(puts); });
  if (taken != puts.size()) fault("a put was not taken");
  for (const PutBlock& each : puts) wait(each.ticket);
}

void StoreLife::get(const std::vector<LifeBlock>& blocks) {
  std::vector<GetBlock> gets;
  for (const LifeBlock& block : blocks) {
    const std::uint64_t ticket = ask(&block);
    Asked& asked = asked_[ticket];
    asked.into.assign(asked.block->back.size(), kUntouched);
    gets.push_back({asked.block->block, asked.into, ticket, asked.block->layout});
  }
  const std::size_t taken = call([&](BlockStore& store) { return store.get(gets); });
  if (taken != gets.size()) fault("a read was not taken");
  for (const GetBlock& each : gets) wait(each.ticket);
}

void StoreLife::remove(const std::vector<LifeBlock>& blocks) {
  const std::uint64_t ticket = ask();
  std::vector<BlockKey> keys;
  for (const LifeBlock& block : blocks) keys.push_back(block.block.key);
  call([&](BlockStore& store) { return store.remove(blocks.front().block.scope, keys, ticket); });
  if (!done(ticket)) return;
  for (const LifeBlock& block : blocks) {
    told_.removed_blocks += known(block).durable ? 1 : 0;
    known(block).durable = false;
  }
}

void StoreLife::pin(const LifeBlock& block, bool pinned) {
  const std::uint64_t ticket = ask();
  const std::vector<BlockKey> keys{block.block.key};
  call([&](BlockStore& store) { return store.set_pinned(block.block.scope, keys, pinned, ticket); });
  if (done(ticket) && known(block).durable) known(block).pinned = pinned;
}

void StoreLife::put_record(std::uint64_t id, std::vector<std::uint8_t> bytes) {
  const std::uint64_t ticket = ask();
  const StoredRecord record{scope_of(1).id, 7, id, bytes};
  call([&](BlockStore& store) { return store.put_record(record, ticket); });
  if (done(ticket)) ledger_.records[id] = std::move(bytes);
}

void StoreLife::remove_record(std::uint64_t id) {
  const std::uint64_t ticket = ask();
  call([&](BlockStore& store) { return store.remove_record(scope_of(1).id, 7, id, ticket); });
  if (done(ticket)) ledger_.records.erase(id);
}

void StoreLife::flush() {
  const std::uint64_t ticket = ask();
  call([&](BlockStore& store) { return store.flush(ticket); });
  done(ticket);
}

void StoreLife::list(bool may_have_more) {
  const std::uint64_t ticket = ask();
  call([&](BlockStore& store) { return store.list(std::nullopt, std::nullopt, ticket); });
  const StoreEvent answer = wait(ticket);
  if (lost_) return;
  if (answer.listing == nullptr) return fault("an answer without a listing");
  if (!answer.error.empty()) return;
  std::set<BlockKey> listed;
  for (const StoredBlock& block : answer.listing->blocks) {
    if (!listed.insert(block.key).second) fault("listed twice: " + name_of(block));
    const auto found = ledger_.blocks.find(block.key);
    const bool there = found != ledger_.blocks.end() && found->second.durable;
    if (!there && !may_have_more) fault("listed and not there: " + name_of(block));
    if (there && (block.pinned != found->second.pinned || block.tokens != found->second.made.block.tokens ||
                  block.identity != found->second.made.block.identity)) {
      fault("listed as another: " + name_of(block));
    }
  }
  for (const auto& [key, block] : ledger_.blocks) {
    if (block.durable && !listed.contains(key)) fault("durable and not listed: " + name_of(block.made.block));
  }
  std::map<std::uint64_t, std::vector<std::uint8_t>> records;
  for (const StoredRecord& record : answer.listing->records) records[record.id] = record.bytes;
  if (records != ledger_.records) fault("other records are listed");
}

void StoreLife::shred(std::uint64_t scope) {
  const std::uint64_t ticket = ask();
  call([&](BlockStore& store) { store.shred(scope_of(scope).id, ticket); });
  ledger_.scopes.erase(scope);
  for (auto& [key, block] : ledger_.blocks) {
    if (block.made.block.scope == scope_of(scope).id) block.durable = block.pinned = false;
  }
  if (!done(ticket)) fault("keys are not destroyed: " + asked_[ticket].answer.value_or(StoreEvent{}).error);
}

void StoreLife::add_scope(std::uint64_t scope) {
  ledger_.scopes.insert(scope);
  call([&](BlockStore& store) { store.add_scope(scope_of(scope)); });
}

void StoreLife::limit(std::uint64_t cap_bytes) {
  StoreLimits limits;
  limits.keep_free_bytes = 1;
  limits.cap_bytes = cap_bytes;
  call([&](BlockStore& store) { store.set_limits(limits); });
}

std::set<std::string> StoreLife::segments() {
  const std::vector<std::string> names = disk_.list(folder_ + "/segments").value();
  return {names.begin(), names.end()};
}

void StoreLife::damage(const LifeBlock& block, const std::string& segment) {
  const auto file = disk_.open(folder_ + "/segments/" + segment, OpenAs::kExisting, false).value();
  std::array<std::byte, 1> byte{};
  constexpr std::uint64_t kInTheBlock = 4096 + 2000;
  if (file->read(kInTheBlock, byte).value() != 1) fault("nothing there to damage");
  byte[0] ^= std::byte{1};
  if (!file->write(kInTheBlock, byte).ok()) fault("cannot damage");
  known(block).damaged = true;
}

std::uint64_t StoreLife::bytes_on_disk() {
  return call([](BlockStore& store) { return store.counters(); }).bytes_on_disk;
}

void StoreLife::check(bool may_have_more) {
  std::vector<LifeBlock> all;
  for (const auto& [key, block] : ledger_.blocks) {
    if (!may_have_more || block.durable) all.push_back(block.made);
  }
  get(all);
  for (int i = 0; i < 4; ++i) flush();  // what was shredded is purged in slices
  list(may_have_more);
  for (const auto& [key, block] : ledger_.blocks) {
    if (block.dropped) fault("damaged and nobody heard of it: " + name_of(block.made.block));
  }
  if (!may_have_more && !lost_) check_sums();
}

void StoreLife::check_sums() {
  const StoreCounters now = call([](BlockStore& store) { return store.counters(); });
  const auto same = [&](const char* what, std::uint64_t there, std::uint64_t wanted) {
    if (there != wanted) {
      fault(std::string(what) + ": " + std::to_string(there) + " instead of " + std::to_string(wanted));
    }
  };
  std::uint64_t durable = 0;
  std::uint64_t pinned = 0;
  for (const auto& [key, block] : ledger_.blocks) {
    durable += block.durable ? 1 : 0;
    pinned += block.durable && block.pinned ? 1 : 0;
  }
  same("blocks", now.blocks, durable);
  same("pinned blocks", now.pinned_blocks, pinned);
  same("stored blocks", now.stored_blocks, told_.stored_blocks);
  same("read blocks", now.read_blocks, told_.read_blocks);
  same("read bytes", now.read_bytes, told_.read_bytes);
  same("evicted blocks", now.evicted_blocks, told_.evicted_blocks);
  same("removed blocks", now.removed_blocks, told_.removed_blocks);
  same("damaged blocks", now.damaged_blocks, told_.damaged_blocks);
  same("queued puts", now.queued_puts + now.queued_put_bytes + now.queued_gets, 0);
  same("segment files", now.segment_files, segments().size());
  for (std::size_t i = 0; i < kRefusalKinds; ++i) {
    same(refusal_name(static_cast<Refusal>(i)), now.refused[i], told_.refused[i]);
  }
  for (std::size_t i = 0; i < kMissKinds; ++i) {
    same(miss_name(static_cast<Miss>(i)), now.missed[i], told_.missed[i]);
  }
}

void StoreLife::go_on(std::uint64_t chain) {
  std::vector<LifeBlock> more;
  for (std::uint64_t n = 0; n < 20; ++n) more.push_back(exact_block(chain, n));
  put(more);
  put_record(chain, {1, 2, 3});
}

void StoreLife::empty() {
  std::set<BlockKey> stay;
  for (const auto& [key, block] : ledger_.blocks) {
    const Known* at = &block;
    if (!block.durable || !block.pinned) continue;
    for (BlockKey above = key; at != nullptr && at->durable;) {
      stay.insert(above);
      above = at->made.block.parent;
      const auto parent = ledger_.blocks.find(above);
      at = parent == ledger_.blocks.end() ? nullptr : &parent->second;
    }
  }
  limit(1);
  flush();
  gather();
  for (const auto& [key, block] : ledger_.blocks) {
    if (block.durable && !stay.contains(key)) fault("may go and stays: " + name_of(block.made.block));
    if (!block.durable && stay.contains(key)) fault("had to stay: " + name_of(block.made.block));
  }
  limit(kWide);
}

}  // namespace larder::storage::test
