// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog_files.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <span>

#include "runtime/base/invariant.h"
#include "runtime/base/out_of_memory.h"
#include "storage/seal.h"

namespace larder::storage {

struct CatalogFiles::Registration {
  sqlite3_vfs vfs{};
  std::string name;
  Disk* disk = nullptr;
  std::set<DiskFile*> open;
  std::string last_failure;
  std::uint64_t failures = 0;
  bool done = false;
};

namespace {

struct OpenFile {
  sqlite3_file base;  // has to come first
  void* owner;
  DiskFile* file;
  char* folder;  // of a file that was made and whose name is not durable yet; else null
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

// What SQLite calls. Its interface is C: state travels as pointers.
struct CatalogCalls {
  using State = CatalogFiles::Registration;

  static State& state(sqlite3_vfs* vfs) { return *static_cast<State*>(vfs->pAppData); }
  static OpenFile& opened(sqlite3_file* file) { return *reinterpret_cast<OpenFile*>(file); }
  static State& state(sqlite3_file* file) { return *static_cast<State*>(opened(file).owner); }

  static int failed(State& state, const Error& error, int code) {
    ++state.failures;
    if (!had_memory([&] { state.last_failure = to_string(error); })) state.last_failure = "out of memory";
    return error.code == ErrorCode::kResourceExhausted ? SQLITE_FULL : code;
  }

  // SQLite is C: what a lack of memory throws may not go through it.
  template <typename Work>
  static int guarded(State& state, int code, Work work) {
    int answer = code;
    if (!had_memory([&] { answer = work(); })) {
      ++state.failures;
      state.last_failure = "out of memory";
    }
    return answer;
  }

  static int close(sqlite3_file* file) {
    state(file).open.erase(opened(file).file);
    delete opened(file).file;
    delete[] opened(file).folder;
    return SQLITE_OK;
  }

  static int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
    return guarded(state(file), SQLITE_IOERR_NOMEM, [&] {
      const std::span<std::byte> bytes(static_cast<std::byte*>(into), static_cast<std::size_t>(size));
      const Result<std::size_t> got = opened(file).file->read(static_cast<std::uint64_t>(offset), bytes);
      if (!got.ok()) return failed(state(file), got.error(), SQLITE_IOERR_READ);
      if (*got == bytes.size()) return SQLITE_OK;
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(*got), bytes.end(), std::byte{0});
      return SQLITE_IOERR_SHORT_READ;
    });
  }

  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
    return guarded(state(file), SQLITE_IOERR_NOMEM, [&] {
      const std::span<const std::byte> bytes(static_cast<const std::byte*>(from), static_cast<std::size_t>(size));
      const Status written = opened(file).file->write(static_cast<std::uint64_t>(offset), bytes);
      return written.ok() ? SQLITE_OK : failed(state(file), written.error(), SQLITE_IOERR_WRITE);
    });
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 length) {
    return guarded(state(file), SQLITE_IOERR_NOMEM, [&] {
      const Status cut = opened(file).file->truncate(static_cast<std::uint64_t>(length));
      return cut.ok() ? SQLITE_OK : failed(state(file), cut.error(), SQLITE_IOERR_TRUNCATE);
    });
  }

  static int sync(sqlite3_file* file, int) {
    return guarded(state(file), SQLITE_IOERR_NOMEM, [&] { return sync_named(file); });
  }

  static int sync_named(sqlite3_file* file) {
    OpenFile& of = opened(file);
    const Status synced = of.file->sync();
    if (!synced.ok()) return failed(state(file), synced.error(), SQLITE_IOERR_FSYNC);
    if (of.folder == nullptr) return SQLITE_OK;
    const Status named = state(file).disk->sync_folder(of.folder);
    if (!named.ok()) return failed(state(file), named.error(), SQLITE_IOERR_DIR_FSYNC);
    delete[] of.folder;
    of.folder = nullptr;
    return SQLITE_OK;
  }

  static int length(sqlite3_file* file, sqlite3_int64* bytes) {
    return guarded(state(file), SQLITE_IOERR_NOMEM, [&] {
      const Result<FileSizes> sizes = opened(file).file->sizes();
      if (!sizes.ok()) return failed(state(file), sizes.error(), SQLITE_IOERR_FSTAT);
      *bytes = static_cast<sqlite3_int64>(sizes->length);
      return SQLITE_OK;
    });
  }

  static int lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int is_reserved(sqlite3_file*, int* reserved) {
    *reserved = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector(sqlite3_file*) { return static_cast<int>(kDiskAlign); }
  static int characteristics(sqlite3_file*) { return 0; }  // no promise about writes that power cuts short

  static const sqlite3_io_methods& methods() {
    static const sqlite3_io_methods kMethods{1,    close,       read,    write,  truncate,        sync,
                                             length, lock,      lock,    is_reserved, control,    sector,
                                             characteristics, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    return kMethods;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    file->pMethods = nullptr;
    if (name == nullptr) return SQLITE_CANTOPEN;  // temporary files stay in memory
    if (out_flags != nullptr) *out_flags = flags;
    return guarded(state(vfs), SQLITE_NOMEM, [&] { return open_named(state(vfs), name, file, flags); });
  }

  static int open_named(State& of, const std::string& path, sqlite3_file* file, int flags) {
    const Result<bool> there = of.disk->exists(path);
    if (!there.ok()) return failed(of, there.error(), SQLITE_CANTOPEN);
    const bool makes = !*there && (flags & SQLITE_OPEN_CREATE) != 0;
    // What needs memory first: a file that was made is opened too, and its name gets durable.
    std::set<DiskFile*> place{nullptr};
    const std::string folder = folder_of(path);
    std::unique_ptr<char[]> to_sync(makes ? new char[folder.size() + 1] : nullptr);
    if (makes) std::memcpy(to_sync.get(), folder.c_str(), folder.size() + 1);
    auto made = of.disk->open(path, makes ? OpenAs::kCreateNew : OpenAs::kExisting, false);
    if (!made.ok()) return failed(of, made.error(), SQLITE_CANTOPEN);
    new (file) OpenFile{{&methods()}, &of, made->release(), to_sync.release()};
    auto node = place.extract(place.begin());
    node.value() = opened(file).file;
    of.open.insert(std::move(node));
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    State& of = state(vfs);
    return guarded(of, SQLITE_IOERR_NOMEM, [&] {
      const Status removed = of.disk->remove(name);
      if (!removed.ok()) return failed(of, removed.error(), SQLITE_IOERR_DELETE);
      if (sync_folder == 0) return SQLITE_OK;
      const Status synced = of.disk->sync_folder(folder_of(name));
      return synced.ok() ? SQLITE_OK : failed(of, synced.error(), SQLITE_IOERR_DIR_FSYNC);
    });
  }

  static int access(sqlite3_vfs* vfs, const char* name, int, int* answer) {
    return guarded(state(vfs), SQLITE_IOERR_NOMEM, [&] {
      const Result<bool> there = state(vfs).disk->exists(name);
      if (!there.ok()) return failed(state(vfs), there.error(), SQLITE_IOERR_ACCESS);
      *answer = *there ? 1 : 0;
      return SQLITE_OK;
    });
  }

  static int full_path(sqlite3_vfs*, const char* name, int room, char* out) {
    if (std::strlen(name) + 1 > static_cast<std::size_t>(room)) return SQLITE_CANTOPEN;
    std::memcpy(out, name, std::strlen(name) + 1);
    return SQLITE_OK;
  }

  static int randomness(sqlite3_vfs*, int size, char* out) {
    random_bytes({reinterpret_cast<std::uint8_t*>(out), static_cast<std::size_t>(size)});
    return size;
  }
  static int sleep(sqlite3_vfs*, int microseconds) { return microseconds; }
  static int time_now(sqlite3_vfs*, sqlite3_int64* now) {
    *now = 0;  // no statement of ours asks for it
    return SQLITE_OK;
  }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }
};

CatalogFiles::CatalogFiles(Disk& disk) : registration_(std::make_unique<Registration>()) {
  Registration& state = *registration_;
  state.disk = &disk;
  Bytes<8> unique;
  random_bytes(unique);
  state.name = "larder";
  for (const std::uint8_t byte : unique) state.name += "-" + std::to_string(byte);
  state.vfs.iVersion = 2;
  state.vfs.szOsFile = sizeof(OpenFile);
  state.vfs.mxPathname = 4096;
  state.vfs.zName = state.name.c_str();
  state.vfs.pAppData = &state;
  state.vfs.xOpen = CatalogCalls::open;
  state.vfs.xDelete = CatalogCalls::remove;
  state.vfs.xAccess = CatalogCalls::access;
  state.vfs.xFullPathname = CatalogCalls::full_path;
  state.vfs.xRandomness = CatalogCalls::randomness;
  state.vfs.xSleep = CatalogCalls::sleep;
  state.vfs.xGetLastError = CatalogCalls::last_error;
  state.vfs.xCurrentTimeInt64 = CatalogCalls::time_now;
  state.done = sqlite3_vfs_register(&state.vfs, 0) == SQLITE_OK;
}

CatalogFiles::~CatalogFiles() {
  INVARIANT(registration_->open.empty());
  if (registration_->done) sqlite3_vfs_unregister(&registration_->vfs);
}

bool CatalogFiles::registered() const { return registration_->done; }

std::uint64_t CatalogFiles::failures() const { return registration_->failures; }

const std::string& CatalogFiles::name() const { return registration_->name; }

std::uint64_t CatalogFiles::allocated_bytes() const {
  std::uint64_t bytes = 0;
  for (const DiskFile* file : registration_->open) {
    const Result<FileSizes> sizes = file->sizes();
    if (sizes.ok()) bytes += sizes->allocated;
  }
  return bytes;
}

std::string CatalogFiles::last_failure() const { return registration_->last_failure; }

}  // namespace larder::storage
