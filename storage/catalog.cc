// SPDX-License-Identifier: Apache-2.0
#include "storage/catalog.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "storage/catalog_files.h"

namespace larder::storage {
namespace {

constexpr const char* kSuffixes[] = {"", "-wal", "-journal"};
constexpr const char* kBegin = "BEGIN IMMEDIATE";
constexpr const char* kCommit = "COMMIT";
constexpr const char* kRollback = "ROLLBACK";

// Element i takes a file from version i to i + 1.
constexpr const char* kMigrations[kCatalogVersion] = {
    "CREATE TABLE scopes(tag BLOB PRIMARY KEY, salt BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE segments(id INTEGER PRIMARY KEY, scope BLOB NOT NULL, extent_bytes INTEGER NOT NULL,"
    "                      writes INTEGER NOT NULL);"
    "CREATE TABLE blocks(place INTEGER PRIMARY KEY, generation INTEGER NOT NULL, sealed BLOB NOT NULL);"
    "CREATE TABLE records(scope BLOB NOT NULL, kind INTEGER NOT NULL, id INTEGER NOT NULL, sealed BLOB NOT NULL,"
    "                     PRIMARY KEY(scope, kind, id)) WITHOUT ROWID;"
    "CREATE TABLE numbers(name INTEGER PRIMARY KEY, value INTEGER NOT NULL);"};

std::int64_t place_of(const ExtentId& at) {
  return static_cast<std::int64_t>(std::uint64_t{at.segment} << 32 | at.extent);
}

// SQLite's header states the version at offset 60, big-endian; 0 when there is no such header.
Result<std::uint32_t> stated_version(Disk& disk, const std::string& path) {
  ASSIGN_OR_RETURN(const bool there, disk.exists(path));
  if (!there) return std::uint32_t{0};
  ASSIGN_OR_RETURN(const std::unique_ptr<DiskFile> file, disk.open(path, OpenAs::kExisting, false));
  std::array<std::byte, 100> header{};
  ASSIGN_OR_RETURN(const std::size_t got, file->read(0, header));
  if (got < header.size() || std::memcmp(header.data(), "SQLite format 3", 16) != 0) return std::uint32_t{0};
  std::uint32_t version = 0;
  for (std::size_t i = 60; i < 64; ++i) version = version << 8 | static_cast<std::uint32_t>(header[i]);
  return version;
}

Error too_new(std::int64_t version, const std::string& path) {
  return Error{ErrorCode::kUnsupported,
               "the catalog has version " + std::to_string(version) + ", this program knows up to " +
                   std::to_string(kCatalogVersion) + "; nothing was changed: use a newer program or another folder",
               path};
}

}  // namespace

class Catalog::Connection {
 public:
  Connection(Disk& disk, std::string path) : files_(disk), path_(std::move(path)) {}
  ~Connection() {
    for (const auto& [text, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status open();
  const CatalogFiles& files() const { return files_; }
  sqlite3* db() const { return db_; }

  Status run(const char* sql) {
    const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? Status{} : Status{failure(code)};
  }

  Error failure(int code) const {
    const int kind = code & 0xff;
    if (kind == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM) return no_memory();
    ErrorCode as = ErrorCode::kIo;
    if (kind == SQLITE_FULL) as = ErrorCode::kResourceExhausted;
    if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) as = ErrorCode::kCorrupt;
    std::string words = std::string("the catalog: ") + sqlite3_errstr(code);
    if (as != ErrorCode::kCorrupt && !files_.last_failure().empty()) words += " (" + files_.last_failure() + ")";
    return Error{as, words, path_};
  }

  // The statement for this text, prepared once. The text has to be a literal.
  Result<sqlite3_stmt*> statement(const char* sql) {
    for (const auto& [text, made] : statements_) {
      if (text == sql) return made;
    }
    if (statements_.size() == statements_.capacity()) statements_.reserve(2 * statements_.size() + 16);
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (code != SQLITE_OK) return failure(code);
    statements_.emplace_back(sql, made);
    return made;
  }

  // Its statement is there since the opening. Where SQLite has no memory even so, settle tries again.
  void rollback();
  // What follows is in no transaction that failed and could not be rolled back.
  Status settle() {
    rollback();
    return sqlite3_get_autocommit(db_) != 0 ? Status{} : Status{no_memory()};
  }

 private:
  Status set_up();
  Status migrate();
  Status check();

  CatalogFiles files_;
  const std::string path_;
  sqlite3* db_ = nullptr;
  std::vector<std::pair<const char*, sqlite3_stmt*>> statements_;
  sqlite3_stmt* rollback_ = nullptr;
};

namespace {

// One run of a prepared statement: bind in order, step, read columns; reset when it goes.
class Run {
 public:
  explicit Run(sqlite3_stmt* statement) : statement_(statement) {}
  ~Run() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Run& bind(std::uint64_t number) {
    sqlite3_bind_int64(statement_, ++bound_, static_cast<std::int64_t>(number));
    return *this;
  }
  // The bytes have to stay until the step.
  Run& bind(std::span<const std::uint8_t> bytes) {
    sqlite3_bind_blob(statement_, ++bound_, bytes.data(), static_cast<int>(bytes.size()), SQLITE_STATIC);
    return *this;
  }
  int step() { return sqlite3_step(statement_); }
  std::uint64_t number(int column) const {
    return static_cast<std::uint64_t>(sqlite3_column_int64(statement_, column));
  }
  std::span<const std::uint8_t> blob(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return {static_cast<const std::uint8_t*>(bytes), size};
  }
  template <std::size_t N>
  Bytes<N> bytes(int column) const {
    Bytes<N> out{};
    const auto from = blob(column);
    std::copy_n(from.begin(), std::min(N, from.size()), out.begin());
    return out;
  }

 private:
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

// Binds in order and runs a statement that answers no rows.
template <typename Connection, typename... Values>
Status change(Connection& connection, const char* sql, const Values&... values) {
  ASSIGN_OR_RETURN(sqlite3_stmt* statement, connection.statement(sql));
  Run run(statement);
  (run.bind(values), ...);
  const int code = run.step();
  return code == SQLITE_DONE ? Status{} : Status{connection.failure(code)};
}

template <typename Connection, typename Row>
Status each(Connection& connection, const char* sql, Row row) {
  ASSIGN_OR_RETURN(sqlite3_stmt* statement, connection.statement(sql));
  Run run(statement);
  for (;;) {
    const int code = run.step();
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return connection.failure(code);
    row(run);
  }
}

}  // namespace

Status Catalog::Connection::open() {
  if (!files_.registered()) return no_memory();
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int code = sqlite3_open_v2(path_.c_str(), &db_, flags, files_.name().c_str());
  if (code != SQLITE_OK) return failure(code);
  sqlite3_extended_result_codes(db_, 1);
  // Until the version is known to be ours, closing may not move the log into the file.
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  RETURN_IF_ERROR(set_up());
  RETURN_IF_ERROR(migrate());
  RETURN_IF_ERROR(check());
  ASSIGN_OR_RETURN(rollback_, statement(kRollback));
  sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  return {};
}

Status Catalog::Connection::set_up() {
  // Exclusive before the log is first touched: SQLite then keeps the log's index in its own memory. 3.40 has a race
  // between two connections that write and checkpoint; here there is never a second one.
  RETURN_IF_ERROR(run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;"
                      "PRAGMA cell_size_check=ON;"));
  std::uint64_t version = 0;
  RETURN_IF_ERROR(each(*this, "PRAGMA user_version", [&](const Run& run) { version = run.number(0); }));
  if (version > kCatalogVersion) return too_new(static_cast<std::int64_t>(version), path_);
  return run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA cache_size=-8192;"
             "PRAGMA wal_autocheckpoint=256; PRAGMA journal_size_limit=1048576;");
}

Status Catalog::Connection::migrate() {
  std::uint64_t version = 0;
  RETURN_IF_ERROR(each(*this, "PRAGMA user_version", [&](const Run& run) { version = run.number(0); }));
  if (version == kCatalogVersion) return {};
  std::string steps = "BEGIN IMMEDIATE;";
  for (std::uint64_t from = version; from < kCatalogVersion; ++from) steps += kMigrations[from];
  steps += "PRAGMA user_version=" + std::to_string(kCatalogVersion) + ";COMMIT;PRAGMA wal_checkpoint(TRUNCATE);";
  return run(steps.c_str());
}

// SQLite's check also calls damaged what it could not read; the disk knows of that.
Status Catalog::Connection::check() {
  const std::uint64_t failures = files_.failures();
  std::string found;
  RETURN_IF_ERROR(each(*this, "PRAGMA integrity_check(1)", [&](const Run& run) {
    const auto text = run.blob(0);
    found.assign(text.begin(), text.end());
  }));
  if (found == "ok") return {};
  if (files_.failures() != failures) {
    return Error{ErrorCode::kIo, "the catalog cannot be read: " + files_.last_failure(), path_};
  }
  return Error{ErrorCode::kCorrupt, "the catalog is damaged: " + found, path_};
}

void Catalog::Connection::rollback() {
  if (sqlite3_get_autocommit(db_) != 0) return;  // SQLite may have rolled back by itself after a failure
  Run run(rollback_);
  static_cast<void>(run.step());
}

Catalog::Catalog(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Catalog::~Catalog() = default;

Result<std::unique_ptr<Catalog>> Catalog::open(Disk& disk, const std::string& path) {
  ASSIGN_OR_RETURN(const std::uint32_t version, stated_version(disk, path));
  if (version > kCatalogVersion) return too_new(version, path);
  auto connection = std::make_unique<Connection>(disk, path);
  RETURN_IF_ERROR(connection->open());
  return std::unique_ptr<Catalog>(new Catalog(std::move(connection)));
}

Status Catalog::remove(Disk& disk, const std::string& path) {
  for (const char* suffix : kSuffixes) RETURN_IF_ERROR(disk.remove(path + suffix));
  return {};
}

Status Catalog::begin() {
  RETURN_IF_ERROR(connection_->settle());
  return change(*connection_, kBegin);
}

Status Catalog::commit() { return change(*connection_, kCommit); }

void Catalog::rollback() { connection_->rollback(); }

Status Catalog::put_scope(const ScopeRow& row) {
  return change(*connection_, "INSERT OR REPLACE INTO scopes VALUES(?,?)", row.tag, row.salt);
}

Status Catalog::remove_scope(const ScopeTag& tag) {
  RETURN_IF_ERROR(change(*connection_, "DELETE FROM records WHERE scope=?", tag));
  return change(*connection_, "DELETE FROM scopes WHERE tag=?", tag);
}

Status Catalog::put_segment(const SegmentRow& row) {
  return change(*connection_, "INSERT OR REPLACE INTO segments VALUES(?,?,?,?)", std::uint64_t{row.id}, row.scope,
                row.extent_bytes, row.writes);
}

Status Catalog::remove_segment(std::uint32_t id) {
  return change(*connection_, "DELETE FROM segments WHERE id=?", std::uint64_t{id});
}

Result<std::uint64_t> Catalog::remove_blocks(std::uint32_t segment, std::uint64_t limit) {
  const std::uint64_t first = std::uint64_t{segment} << 32;
  RETURN_IF_ERROR(change(*connection_,
                         "DELETE FROM blocks WHERE place IN (SELECT place FROM blocks WHERE place BETWEEN ? AND ? "
                         "LIMIT ?)",
                         first, first | 0xffffffffu, limit));
  return static_cast<std::uint64_t>(sqlite3_changes64(connection_->db()));
}

Status Catalog::put_block(const BlockRow& row) {
  return change(*connection_, "INSERT OR REPLACE INTO blocks VALUES(?,?,?)",
                static_cast<std::uint64_t>(place_of(row.at)), row.generation, std::span(row.sealed));
}

Status Catalog::remove_block(const ExtentId& at) {
  return change(*connection_, "DELETE FROM blocks WHERE place=?", static_cast<std::uint64_t>(place_of(at)));
}

Status Catalog::put_record(const RecordRow& row) {
  return change(*connection_, "INSERT OR REPLACE INTO records VALUES(?,?,?,?)", row.scope, std::uint64_t{row.kind},
                row.id, std::span(row.sealed));
}

Status Catalog::remove_record(const ScopeTag& scope, std::uint32_t kind, std::uint64_t id) {
  return change(*connection_, "DELETE FROM records WHERE scope=? AND kind=? AND id=?", scope, std::uint64_t{kind}, id);
}

Status Catalog::set_number(CatalogNumber number, std::uint64_t value) {
  return change(*connection_, "INSERT OR REPLACE INTO numbers VALUES(?,?)", static_cast<std::uint64_t>(number), value);
}

Result<std::vector<ScopeRow>> Catalog::scopes() {
  std::vector<ScopeRow> rows;
  RETURN_IF_ERROR(each(*connection_, "SELECT tag, salt FROM scopes", [&](const Run& run) {
    rows.push_back({run.bytes<16>(0), run.bytes<32>(1)});
  }));
  return rows;
}

Result<std::vector<SegmentRow>> Catalog::segments() {
  std::vector<SegmentRow> rows;
  RETURN_IF_ERROR(each(*connection_, "SELECT id, scope, extent_bytes, writes FROM segments ORDER BY id",
                       [&](const Run& run) {
                         rows.push_back({static_cast<std::uint32_t>(run.number(0)), run.bytes<16>(1), run.number(2),
                                         run.number(3)});
                       }));
  return rows;
}

Result<std::uint64_t> Catalog::number(CatalogNumber wanted) {
  std::uint64_t value = 0;
  RETURN_IF_ERROR(each(*connection_, "SELECT name, value FROM numbers", [&](const Run& run) {
    if (run.number(0) == static_cast<std::uint64_t>(wanted)) value = run.number(1);
  }));
  return value;
}

Result<std::optional<BlockRow>> Catalog::block(const ExtentId& at) {
  ASSIGN_OR_RETURN(sqlite3_stmt* statement,
                   connection_->statement("SELECT generation, sealed FROM blocks WHERE place=?"));
  Run run(statement);
  run.bind(static_cast<std::uint64_t>(place_of(at)));
  const int code = run.step();
  if (code == SQLITE_DONE) return std::optional<BlockRow>{};
  if (code != SQLITE_ROW) return connection_->failure(code);
  const auto sealed = run.blob(1);
  return std::optional<BlockRow>(BlockRow{at, run.number(0), {sealed.begin(), sealed.end()}});
}

Status Catalog::each_block(const std::function<void(const BlockRow&)>& row) {
  RETURN_IF_ERROR(connection_->settle());
  BlockRow one;
  return each(*connection_, "SELECT place, generation, sealed FROM blocks ORDER BY place", [&](const Run& run) {
    one.at = {static_cast<std::uint32_t>(run.number(0) >> 32), static_cast<std::uint32_t>(run.number(0))};
    one.generation = run.number(1);
    const auto sealed = run.blob(2);
    one.sealed.assign(sealed.begin(), sealed.end());
    row(one);
  });
}

Status Catalog::each_record(const std::function<void(const RecordRow&)>& row) {
  RETURN_IF_ERROR(connection_->settle());
  RecordRow one;
  return each(*connection_, "SELECT scope, kind, id, sealed FROM records ORDER BY scope, kind, id",
              [&](const Run& run) {
                one.scope = run.bytes<16>(0);
                one.kind = static_cast<std::uint32_t>(run.number(1));
                one.id = run.number(2);
                const auto sealed = run.blob(3);
                one.sealed.assign(sealed.begin(), sealed.end());
                row(one);
              });
}

Status Catalog::checkpoint() {
  RETURN_IF_ERROR(connection_->settle());
  const int code = sqlite3_wal_checkpoint_v2(connection_->db(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  return code == SQLITE_OK ? Status{} : Status{connection_->failure(code)};
}

std::uint64_t Catalog::allocated_bytes() const { return connection_->files().allocated_bytes(); }

}  // namespace larder::storage
