// SPDX-License-Identifier: Apache-2.0
// gguf::File: one GGUF file, checked whole before anybody reads from it. The bytes are untrusted: every count, size,
// offset, type and name is bounded and every sum and product checked. It knows no architecture and reads no weights;
// split files and what a model needs are the model's affair.
// Bounds:  at most kMaxMetadataBytes before the tensor data, kMaxEntries keys, kMaxTensors tensors, strings of
//          kMaxStringBytes, arrays of kMaxArrayItems; memory taken is at most 4x the metadata read; O(n log n).
// Errors:  kIo (cannot open or map), kCorrupt (a field breaks the format), kUnsupported (version, byte order, nested
//          arrays), kNotFound (no such key), kInvalidArgument (a key's value has another type or range). The message
//          names what, the value and the byte offset; the context is the path.
// Owns:    a private read-only mapping, a descriptor. The size is read once, at open. Requires of whoever keeps model
//          files: one is replaced by rename, never cut or rewritten in place; touching a mapping past a shortened end
//          raises SIGBUS.
// Threads: const after open; any.
// Source:  ggml-org/ggml docs/gguf.md and src/gguf.cpp (layout, alignment rule, type ids).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/layout/weight_types.h"
#include "runtime/base/result.h"

namespace larder::gguf {

inline constexpr std::uint64_t kMaxMetadataBytes = std::uint64_t{256} << 20;
inline constexpr std::uint64_t kMaxEntries = 65'536;
inline constexpr std::uint64_t kMaxTensors = 65'536;
inline constexpr std::uint64_t kMaxKeyBytes = 1'024;
inline constexpr std::uint64_t kMaxTensorNameBytes = 128;
inline constexpr std::uint64_t kMaxStringBytes = std::uint64_t{16} << 20;
inline constexpr std::uint64_t kMaxArrayItems = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kMinAlignment = 8;
inline constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kDefaultAlignment = 32;
inline constexpr std::uint32_t kMaxDims = 4;

enum class ValueType : std::uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// "u32", "string", …; "unknown" for an id outside the enum.
std::string_view value_type_name(ValueType type);

// Name and block size of any type id ggml has given out, also those this build has no kernel for.
// Ensures: {nullptr, 0, 0} for an id nobody has given out.
kernels::WeightTypeInfo known_tensor_type(std::uint32_t type_id);

// One key of the file. `value` is what stands after the type fields: for an array its items, for a string its length
// and bytes. Views into the mapping: valid while the File lives.
struct Entry {
  std::string_view key;
  ValueType type = ValueType::kU8;
  ValueType item_type = ValueType::kU8;  // of an array; else equal to `type`
  std::uint64_t items = 1;
  std::span<const std::byte> value;
  std::uint64_t offset = 0;  // of `value` in the file
};

struct TensorInfo {
  std::string_view name;  // valid while the File lives
  std::uint32_t type_id = 0;
  std::uint32_t n_dims = 0;
  std::array<std::uint64_t, kMaxDims> dims{1, 1, 1, 1};  // dims[0] is contiguous in memory; unused ones are 1
  std::uint64_t offset = 0;                              // in the file
  std::uint64_t bytes = 0;                               // 0 when the type is not known at all

  // False: this build has no kernel for it; name the tensor and type_name() in the error.
  bool supported() const { return kernels::weight_type_info(type()).name != nullptr; }
  kernels::WeightType type() const { return static_cast<kernels::WeightType>(type_id); }
  // "Q4_K", or "type 137" when nobody has given the id out.
  std::string type_name() const;
};

class MappedFile;

// Which bytes on disk these are: key of the weights-digest cache.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

class File {
 public:
  // Opens, maps and checks `path`. Reads the header, keys and tensor table only, not the weights.
  static Result<std::shared_ptr<const File>> open(const std::string& path);
  // The same over memory. Requires: `bytes` outlives the File and starts at an address divisible by 32.
  static Result<std::shared_ptr<const File>> parse(std::span<const std::byte> bytes, std::string name = "memory");

  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return path_; }
  const FileStamp& stamp() const { return stamp_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  // What lies on disk now, not what is mapped: a damaged disk or a file that became shorter is an error here, and no
  // signal. Requires: within bytes().  Errors: kIo.
  Status read(std::uint64_t offset, std::span<std::byte> out) const;
  // kIo when size or time of the last write differ from the stamp. The path may name another file by now.
  Status check_unchanged() const;
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }
  std::uint64_t data_offset() const { return data_offset_; }

  // In file order.
  std::span<const Entry> entries() const { return entries_; }
  std::span<const TensorInfo> tensors() const { return tensors_; }

  const Entry* find_entry(std::string_view key) const;         // nullptr: no such key
  const TensorInfo* find_tensor(std::string_view name) const;  // nullptr: no such tensor
  // The tensor's bytes. Requires: `tensor` is one of tensors().
  std::span<const std::byte> tensor_bytes(const TensorInfo& tensor) const;
  // The memory of these mapped bytes goes back to the system; they are read from the disk again when they are touched.
  // Nothing happens to a File over memory.
  void leave_pages(std::span<const std::byte> bytes) const;

  // One value. Integers of every width are taken when the value fits; f32 also from f64; f32 refuses NaN and
  // infinities.
  Result<std::uint32_t> find_u32(std::string_view key) const;
  Result<std::uint64_t> find_u64(std::string_view key) const;
  Result<float> find_f32(std::string_view key) const;
  Result<bool> find_bool(std::string_view key) const;
  Result<std::string> find_string(std::string_view key) const;

  // The same with an answer for a missing key. A key that is there with a wrong type or range is still an error.
  Result<std::uint32_t> find_u32(std::string_view key, std::uint32_t if_missing) const;
  Result<std::uint64_t> find_u64(std::string_view key, std::uint64_t if_missing) const;
  Result<float> find_f32(std::string_view key, float if_missing) const;
  Result<bool> find_bool(std::string_view key, bool if_missing) const;
  Result<std::string> find_string(std::string_view key, std::string_view if_missing) const;

  // Whole arrays, copied. i32 and u32 take every integer width, f32 also f64.
  Result<std::vector<std::string>> find_string_array(std::string_view key) const;
  Result<std::vector<float>> find_f32_array(std::string_view key) const;
  Result<std::vector<std::int32_t>> find_i32_array(std::string_view key) const;
  Result<std::vector<std::uint32_t>> find_u32_array(std::string_view key) const;

 private:
  friend class Parser;
  File();
  template <typename T, typename ReadItem>
  Result<std::vector<T>> find_array(std::string_view key, std::string_view wanted, ReadItem read_item) const;
  Error missing(std::string_view key) const;
  Error wrong(const Entry& entry, std::string_view wanted) const;

  std::string path_;
  FileStamp stamp_;
  std::unique_ptr<MappedFile> mapping_;
  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = kDefaultAlignment;
  std::uint64_t data_offset_ = 0;
  std::vector<Entry> entries_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::uint32_t> entries_by_key_;   // indices, sorted by key
  std::vector<std::uint32_t> tensors_by_name_;  // indices, sorted by name
};

}  // namespace larder::gguf
