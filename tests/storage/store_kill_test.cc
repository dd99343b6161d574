// SPDX-License-Identifier: Apache-2.0
// kill -9: a supervisor forks a process that lives in a store on a real disk, and it dies without warning, half of the
// times after a random time and half at a random call on a file. The next one opens the same folder, is checked against
// the supervisor's ledger, and lives on.
// LARDER_KILLS: how many deaths; the ordinary run makes do with few, the night's run asks for many.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "tests/storage/store_story.h"
#include "tests/storage/temp_folder.h"

namespace larder::storage {
namespace {

using test::config_in;
using test::StoreRig;
using test::StoreStory;

// Ends the process at the call of the given number, before it is made.
class DeadlyDisk final : public Disk {
 public:
  DeadlyDisk(Disk& disk, std::uint64_t last_call) : disk_(disk), left_(last_call) {}

  void count() {
    if (left_ != 0 && --left_ == 0) ::kill(::getpid(), SIGKILL);
  }

  Result<std::unique_ptr<DiskFile>> open(const std::string& path, OpenAs as, bool direct) override;
  Status make_folder(const std::string& path) override { return count(), disk_.make_folder(path); }
  Status remove(const std::string& path) override { return count(), disk_.remove(path); }
  Status sync_folder(const std::string& path) override { return count(), disk_.sync_folder(path); }
  Result<std::vector<std::string>> list(const std::string& folder) override { return disk_.list(folder); }
  Result<bool> exists(const std::string& path) override { return disk_.exists(path); }
  Result<Space> space(const std::string& path) override { return disk_.space(path); }
  std::unique_ptr<DiskQueue> make_queue(std::size_t pieces) override;
  std::string io_path() const override { return disk_.io_path(); }

 private:
  Disk& disk_;
  std::atomic<std::uint64_t> left_;
};

class DeadlyFile final : public DiskFile {
 public:
  DeadlyFile(DeadlyDisk& disk, std::unique_ptr<DiskFile> file) : disk_(disk), file_(std::move(file)) {}
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) override {
    return file_->read(offset, into);
  }
  Status write(std::uint64_t offset, std::span<const std::byte> bytes) override {
    return disk_.count(), file_->write(offset, bytes);
  }
  Status lock() override { return file_->lock(); }
  Status sync() override { return disk_.count(), file_->sync(); }
  Status truncate(std::uint64_t length) override { return disk_.count(), file_->truncate(length); }
  Status allocate(std::uint64_t offset, std::uint64_t bytes) override {
    return disk_.count(), file_->allocate(offset, bytes);
  }
  Status punch(std::uint64_t offset, std::uint64_t bytes) override {
    return disk_.count(), file_->punch(offset, bytes);
  }
  Result<FileSizes> sizes() const override { return file_->sizes(); }
  DiskFile* inner() const { return file_.get(); }

 private:
  DeadlyDisk& disk_;
  const std::unique_ptr<DiskFile> file_;
};

class DeadlyQueue final : public DiskQueue {
 public:
  DeadlyQueue(DeadlyDisk& disk, std::unique_ptr<DiskQueue> queue) : disk_(disk), queue_(std::move(queue)) {}
  std::size_t pieces() const override { return queue_->pieces(); }
  std::span<std::byte> piece(std::size_t index) override { return queue_->piece(index); }
  void submit(const DiskOp& op) override {
    if (op.kind == DiskOp::Kind::kWrite) disk_.count();
    DiskOp inner = op;
    inner.file = static_cast<DeadlyFile*>(op.file)->inner();
    queue_->submit(inner);
  }
  DiskDone wait() override { return queue_->wait(); }

 private:
  DeadlyDisk& disk_;
  const std::unique_ptr<DiskQueue> queue_;
};

Result<std::unique_ptr<DiskFile>> DeadlyDisk::open(const std::string& path, OpenAs as, bool direct) {
  count();
  ASSIGN_OR_RETURN(std::unique_ptr<DiskFile> file, disk_.open(path, as, direct));
  return std::unique_ptr<DiskFile>(std::make_unique<DeadlyFile>(*this, std::move(file)));
}

std::unique_ptr<DiskQueue> DeadlyDisk::make_queue(std::size_t pieces) {
  return std::make_unique<DeadlyQueue>(*this, disk_.make_queue(pieces));
}

struct Message {
  char what = 0;
  std::uint64_t chain = 0;
  std::uint64_t n = 0;
};

StoreConfig config(const std::string& folder, bool capped) {
  StoreConfig made = config_in(folder);
  if (capped) made.limits.cap_bytes = (2u << 20) + (1u << 20);
  made.segment_bytes = 256u << 10;
  return made;
}

// The process that dies. `story` holds what the ledger says is there.
[[noreturn]] void live_and_die(StoreStory& story, const std::string& folder, std::uint64_t seed, bool capped,
                               int pipe) {
  auto real = open_disk(seed % 2 == 0 ? IoPath::kProbe : IoPath::kThreads);
  Rng rng(seed, 5);
  const bool by_time = rng.below(2) == 0;
  DeadlyDisk disk(**real, by_time ? 0 : 1 + rng.below(400));
  if (by_time) {
    const auto after_us = static_cast<long>(3'000 + rng.below(120'000));
    const itimerval timer{{0, 0}, {0, after_us}};
    ::setitimer(ITIMER_REAL, &timer, nullptr);  // nobody handles it: the process ends at once
  }
  story.tell = [&](char what, const StoreStory::Name& name) {
    const Message message{what, name.first, name.second};
    if (::write(pipe, &message, sizeof message) != sizeof message) ::_exit(3);
  };
  StoreRig rig(disk);
  if (!rig.open(config(folder, capped), StoreStory::kScopes)) ::_exit(4);
  for (;;) {
    if (story.live(rig, 10) != 0) ::_exit(5);
  }
}

// One life. Answers the child's own complaint, 0 when it died as it should.
int one_life(StoreStory& story, const std::string& folder, std::uint64_t seed, bool capped) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    StoreStory its_own(seed);
    for (const StoreStory::Name& name : story.must_have()) its_own.remember(name);
    live_and_die(its_own, folder, seed, capped, ends[1]);
  }
  ::close(ends[1]);
  Message message;
  while (::read(ends[0], &message, sizeof message) == sizeof message) {
    const StoreStory::Name name{message.chain, message.n};
    message.what == 'd' ? story.remember(name) : story.gone(message.what, name);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 0 : WEXITSTATUS(status);
}

std::uint64_t bytes_of_files(const test::TempFolder& folder) {
  std::uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    struct stat facts {};
    if (::stat(entry.path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) {
      bytes += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    }
  }
  return bytes;
}

// After a death: opens, checks against the ledger, counts bytes. What was evicted without its word getting out, at most
// `unheard` blocks and only from the ends of chains, is struck from the ledger.
bool holds_after(StoreStory& story, const test::TempFolder& folder, bool capped, std::size_t unheard) {
  auto disk = open_disk(IoPath::kThreads);
  StoreRig rig(**disk);
  if (!rig.open(config(folder.path(), capped), StoreStory::kScopes)) {
    std::printf("does not open: %s\n", rig.error().c_str());
    return false;
  }
  rig.flush();
  story.take_evictions(rig);  // the cap holds from the start
  const auto names = story.must_have();
  std::set<std::uint64_t> ended;  // chains of which something is still there: nothing before may be missing
  for (auto at = names.rbegin(); at != names.rend() && unheard > 0; ++at) {
    if (rig.get(StoreStory::block(*at)).miss != Miss::kNotStored) ended.insert(at->first);
    if (ended.contains(at->first)) continue;
    story.gone('e', *at);
    --unheard;
  }
  const int wrong = story.check(rig);
  const bool sums_up = rig.store().counters().bytes_on_disk == bytes_of_files(folder);
  rig.close();
  bool clean = true;
  for (const auto& entry : std::filesystem::directory_iterator(folder.file("segments"))) {
    clean = clean && entry.path().extension() == ".seg";
  }
  if (wrong != 0 || !sums_up || !clean) std::printf("%d wrong, sums %d, clean %d\n", wrong, sums_up, clean);
  return wrong == 0 && sums_up && clean;
}

TEST(StoreKills, NothingDurableIsLostAndNothingWrongIsServed) {
  const char* text = std::getenv("LARDER_KILLS");
  const int kills = text == nullptr ? 80 : std::atoi(text);
  int passed = 0;
  int failed = 0;
  std::size_t stored = 0;
  std::unique_ptr<test::TempFolder> folder;
  std::unique_ptr<StoreStory> story;
  for (int number = 0; number < kills; ++number) {
    const bool capped = number / 20 % 2 == 1;
    if (number % 20 == 0) {  // a fresh folder now and then: its first steps are crashed into as well
      folder = std::make_unique<test::TempFolder>();
      story = std::make_unique<StoreStory>(1);
    }
    const std::size_t before = story->stored();
    const int complaint = one_life(*story, folder->path(), static_cast<std::uint64_t>(number), capped);
    stored += story->stored() - before;
    if (complaint != 0) std::printf("life %d ended with %d\n", number, complaint);
    complaint == 0 && holds_after(*story, *folder, capped, capped ? 64 : 0) ? ++passed : ++failed;
  }
  std::printf("kill -9: %d passed, %d failed (%zu blocks became durable on the way)\n", passed, failed, stored);
  EXPECT_EQ(failed, 0);
  EXPECT_GT(stored, static_cast<std::size_t>(kills));
}

TEST(StoreKills, ControlALedgerThatClaimsMoreIsFoundOut) {
  const test::TempFolder folder;
  StoreStory story(1);
  EXPECT_EQ(one_life(story, folder.path(), 4, false), 0);
  EXPECT_TRUE(holds_after(story, folder, false, 0));
  story.remember({1, 1000});
  EXPECT_FALSE(holds_after(story, folder, false, 0));
}

}  // namespace
}  // namespace larder::storage
