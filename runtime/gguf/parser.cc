// SPDX-License-Identifier: Apache-2.0
#include "runtime/gguf/parser.h"

#include <algorithm>

namespace larder::gguf {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kSmallestEntryBytes = 8 + 1 + 4 + 1;
constexpr std::uint64_t kSmallestTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

std::string number(std::uint64_t value) { return std::to_string(value); }

// Keys and tensor names are plain ASCII without control characters; anything else would only confuse a screen.
bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 80)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 80 ? "…'" : "'");
}

Error Parser::corrupt(std::uint64_t offset, const std::string& what) const {
  return {ErrorCode::kCorrupt,
          "byte " + number(offset) + ": " + what + "; the file is damaged or not a model, download it again",
          file_.path_};
}

Error Parser::cut(std::string_view what) const {
  return {ErrorCode::kCorrupt,
          "byte " + number(cursor_.offset()) + ": the file ends at byte " + number(file_.bytes_.size()) +
              " in the middle of " + std::string(what) + "; it was cut, download it again",
          file_.path_};
}

Status Parser::run() {
  RETURN_IF_ERROR(read_header());
  RETURN_IF_ERROR(read_entries());
  RETURN_IF_ERROR(index_entries());
  RETURN_IF_ERROR(read_alignment());
  RETURN_IF_ERROR(read_tensors());
  RETURN_IF_ERROR(index_tensors());
  RETURN_IF_ERROR(place_data());
  return refuse_overlap();
}

Status Parser::read_header() {
  std::span<const std::byte> magic;
  if (!cursor_.take(kMagic.size(), magic)) return cut("the magic number");
  if (as_text(magic) != kMagic) {
    return corrupt(0, "the file begins with " + quoted(as_text(magic)) + " instead of 'GGUF'");
  }
  if (!cursor_.read(file_.version_)) return cut("the version");
  if (file_.version_ == 1) {
    return Error{ErrorCode::kUnsupported, "byte 4: GGUF version 1 is not supported; convert the file to version 3",
                 file_.path_};
  }
  if (file_.version_ != 0 && (file_.version_ & 0xffffu) == 0) {
    return Error{ErrorCode::kUnsupported, "byte 4: the file is big-endian; get the little-endian one", file_.path_};
  }
  if (file_.version_ != 2 && file_.version_ != 3) {
    return Error{ErrorCode::kUnsupported,
                 "byte 4: GGUF version " + number(file_.version_) + " is not supported; version 2 or 3 is",
                 file_.path_};
  }
  const std::uint64_t tensor_count_at = cursor_.offset();
  if (!cursor_.read(tensor_count_)) return cut("the tensor count");
  const std::uint64_t entry_count_at = cursor_.offset();
  if (!cursor_.read(entry_count_)) return cut("the key count");
  if (tensor_count_ > kMaxTensors || tensor_count_ > cursor_.left() / kSmallestTensorBytes) {
    return corrupt(tensor_count_at, "tensor count " + number(tensor_count_) + " is more than the file can hold");
  }
  if (entry_count_ > kMaxEntries || entry_count_ > cursor_.left() / kSmallestEntryBytes) {
    return corrupt(entry_count_at, "key count " + number(entry_count_) + " is more than the file can hold");
  }
  return {};
}

Status Parser::read_text(std::string_view what, std::uint64_t max_bytes, std::string_view& text) {
  const std::uint64_t at = cursor_.offset();
  std::uint64_t length = 0;
  if (!cursor_.read(length)) return cut(what);
  if (length > max_bytes) {
    return corrupt(at,
                   std::string(what) + " has " + number(length) + " bytes, at most " + number(max_bytes) + " are read");
  }
  std::span<const std::byte> bytes;
  if (!cursor_.take(length, bytes)) {
    return corrupt(
        at, std::string(what) + " has " + number(length) + " bytes, but the file ends after " + number(cursor_.left()));
  }
  text = as_text(bytes);
  return {};
}

Status Parser::read_entries() {
  file_.entries_.reserve(entry_count_);
  for (std::uint64_t i = 0; i < entry_count_; ++i) {
    RETURN_IF_ERROR(read_entry());
    if (cursor_.offset() > kMaxMetadataBytes) {
      return corrupt(cursor_.offset(), "the keys take more than " + number(kMaxMetadataBytes) + " bytes");
    }
  }
  return {};
}

Status Parser::read_entry() {
  Entry entry;
  const std::uint64_t key_at = cursor_.offset();
  RETURN_IF_ERROR(read_text("a key", kMaxKeyBytes, entry.key));
  if (entry.key.empty() || !is_printable(entry.key)) {
    return corrupt(key_at, "key " + quoted(entry.key) + " is empty or has unprintable characters");
  }
  const std::uint64_t type_at = cursor_.offset();
  std::uint32_t type = 0;
  if (!cursor_.read(type)) return cut("the type of key " + quoted(entry.key));
  if (type > static_cast<std::uint32_t>(ValueType::kF64)) {
    return corrupt(type_at, "key " + quoted(entry.key) + " has unknown value type " + number(type));
  }
  entry.type = static_cast<ValueType>(type);
  entry.item_type = entry.type;
  if (entry.type == ValueType::kArray) {
    RETURN_IF_ERROR(read_array(entry));
  } else if (entry.type == ValueType::kString) {
    entry.offset = cursor_.offset();
    std::string_view text;
    RETURN_IF_ERROR(read_text("the text of key " + quoted(entry.key), kMaxStringBytes, text));
    entry.value = file_.bytes_.subspan(entry.offset, cursor_.offset() - entry.offset);
  } else {
    entry.offset = cursor_.offset();
    if (!cursor_.take(value_bytes(type), entry.value)) return cut("the value of key " + quoted(entry.key));
  }
  RETURN_IF_ERROR(check_bool(entry));
  file_.entries_.push_back(entry);
  return {};
}

Status Parser::read_array(Entry& entry) {
  const std::uint64_t type_at = cursor_.offset();
  std::uint32_t item_type = 0;
  if (!cursor_.read(item_type)) return cut("the item type of key " + quoted(entry.key));
  if (item_type == static_cast<std::uint32_t>(ValueType::kArray)) {
    return Error{ErrorCode::kUnsupported,
                 "byte " + number(type_at) + ": key " + quoted(entry.key) + " is an array of arrays, which is not read",
                 file_.path_};
  }
  if (item_type > static_cast<std::uint32_t>(ValueType::kF64)) {
    return corrupt(type_at, "key " + quoted(entry.key) + " has unknown item type " + number(item_type));
  }
  entry.item_type = static_cast<ValueType>(item_type);
  const std::uint64_t count_at = cursor_.offset();
  if (!cursor_.read(entry.items)) return cut("the item count of key " + quoted(entry.key));
  const bool strings = entry.item_type == ValueType::kString;
  const std::uint64_t smallest_item = strings ? 8 : value_bytes(item_type);
  if (entry.items > kMaxArrayItems || entry.items > cursor_.left() / smallest_item) {
    return corrupt(count_at,
                   "key " + quoted(entry.key) + " has " + number(entry.items) + " items, more than the file can hold");
  }
  entry.offset = cursor_.offset();
  if (strings) return take_strings(entry);
  if (!cursor_.take(entry.items * smallest_item, entry.value)) return cut("the items of key " + quoted(entry.key));
  return {};
}

Status Parser::take_strings(Entry& entry) {
  const std::string what = "an item of key " + quoted(entry.key);
  for (std::uint64_t i = 0; i < entry.items; ++i) {
    std::string_view text;
    RETURN_IF_ERROR(read_text(what, kMaxStringBytes, text));
  }
  entry.value = file_.bytes_.subspan(entry.offset, cursor_.offset() - entry.offset);
  return {};
}

Status Parser::check_bool(const Entry& entry) {
  if (entry.item_type != ValueType::kBool) return {};
  for (std::size_t i = 0; i < entry.value.size(); ++i) {
    const auto value = std::to_integer<std::uint32_t>(entry.value[i]);
    if (value > 1) return corrupt(entry.offset + i, "key " + quoted(entry.key) + " has bool " + number(value));
  }
  return {};
}

Status Parser::index_entries() {
  auto& order = file_.entries_by_key_;
  const auto& entries = file_.entries_;
  order.resize(entries.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return entries[a].key < entries[b].key; });
  const auto twice =
      std::adjacent_find(order.begin(), order.end(), [&](auto a, auto b) { return entries[a].key == entries[b].key; });
  if (twice == order.end()) return {};
  const Entry& second = entries[std::max(*twice, *(twice + 1))];
  return corrupt(second.offset, "key " + quoted(second.key) + " stands in the file twice");
}

Status Parser::read_alignment() {
  const Entry* entry = file_.find_entry("general.alignment");
  if (entry == nullptr) return {};
  ASSIGN_OR_RETURN(file_.alignment_, file_.find_u64("general.alignment"));
  const std::uint64_t alignment = file_.alignment_;
  if (alignment < kMinAlignment || alignment > kMaxAlignment || (alignment & (alignment - 1)) != 0) {
    return corrupt(entry->offset, "general.alignment " + number(alignment) + " is not a power of two from " +
                                      number(kMinAlignment) + " to " + number(kMaxAlignment));
  }
  return {};
}

Status Parser::read_tensors() {
  file_.tensors_.reserve(tensor_count_);
  for (std::uint64_t i = 0; i < tensor_count_; ++i) RETURN_IF_ERROR(read_tensor());
  if (cursor_.offset() > kMaxMetadataBytes) {
    return corrupt(cursor_.offset(), "keys and tensor table take more than " + number(kMaxMetadataBytes) + " bytes");
  }
  return {};
}

Status Parser::read_tensor() {
  TensorInfo tensor;
  const std::uint64_t name_at = cursor_.offset();
  RETURN_IF_ERROR(read_text("a tensor name", kMaxTensorNameBytes, tensor.name));
  if (tensor.name.empty() || !is_printable(tensor.name)) {
    return corrupt(name_at, "tensor name " + quoted(tensor.name) + " is empty or has unprintable characters");
  }
  std::uint64_t values = 0;
  RETURN_IF_ERROR(read_dims(tensor, values));
  const std::uint64_t type_at = cursor_.offset();
  if (!cursor_.read(tensor.type_id)) return cut("the type of tensor " + quoted(tensor.name));
  const std::uint64_t offset_at = cursor_.offset();
  if (!cursor_.read(tensor.offset)) return cut("the offset of tensor " + quoted(tensor.name));
  if (tensor.offset % file_.alignment_ != 0) {
    return corrupt(offset_at, "tensor " + quoted(tensor.name) + " has offset " + number(tensor.offset) +
                                  ", not a multiple of the alignment " + number(file_.alignment_));
  }
  const kernels::WeightTypeInfo info = known_tensor_type(tensor.type_id);
  if (info.name != nullptr) {
    if (tensor.dims[0] % info.block_values != 0) {
      return corrupt(type_at, "tensor " + quoted(tensor.name) + " has rows of " + number(tensor.dims[0]) +
                                  " values, not a whole number of " + info.name + " blocks");
    }
    if (!checked_multiply(values / info.block_values, info.block_bytes, tensor.bytes)) {
      return corrupt(type_at, "tensor " + quoted(tensor.name) + " has more bytes than can be counted");
    }
  }
  file_.tensors_.push_back(tensor);
  return {};
}

Status Parser::read_dims(TensorInfo& tensor, std::uint64_t& values) {
  const std::uint64_t count_at = cursor_.offset();
  if (!cursor_.read(tensor.n_dims)) return cut("the dimensions of tensor " + quoted(tensor.name));
  if (tensor.n_dims == 0 || tensor.n_dims > kMaxDims) {
    return corrupt(count_at, "tensor " + quoted(tensor.name) + " has " + number(tensor.n_dims) + " dimensions, 1 to " +
                                 number(kMaxDims) + " are read");
  }
  values = 1;
  for (std::uint32_t i = 0; i < tensor.n_dims; ++i) {
    const std::uint64_t at = cursor_.offset();
    if (!cursor_.read(tensor.dims[i])) return cut("the dimensions of tensor " + quoted(tensor.name));
    if (tensor.dims[i] == 0 || !checked_multiply(values, tensor.dims[i], values)) {
      return corrupt(
          at, "tensor " + quoted(tensor.name) + " has dimension " + number(i) + " of size " + number(tensor.dims[i]));
    }
  }
  return {};
}

Status Parser::index_tensors() {
  auto& order = file_.tensors_by_name_;
  const auto& tensors = file_.tensors_;
  order.resize(tensors.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return tensors[a].name < tensors[b].name; });
  const auto twice = std::adjacent_find(order.begin(), order.end(),
                                        [&](auto a, auto b) { return tensors[a].name == tensors[b].name; });
  if (twice == order.end()) return {};
  return corrupt(cursor_.offset(), "tensor " + quoted(tensors[*twice].name) + " stands in the file twice");
}

Status Parser::place_data() {
  const std::uint64_t table_end = cursor_.offset();
  file_.data_offset_ = (table_end + file_.alignment_ - 1) / file_.alignment_ * file_.alignment_;
  for (TensorInfo& tensor : file_.tensors_) RETURN_IF_ERROR(place_tensor(tensor));
  return {};
}

Status Parser::place_tensor(TensorInfo& tensor) {
  const std::uint64_t file_bytes = file_.bytes_.size();
  const std::uint64_t in_data = tensor.offset;
  std::uint64_t end = 0;
  if (!checked_add(file_.data_offset_, in_data, tensor.offset) || !checked_add(tensor.offset, tensor.bytes, end) ||
      end > file_bytes) {
    return corrupt(file_.data_offset_, "tensor " + quoted(tensor.name) + " needs " + number(tensor.bytes) +
                                           " bytes at offset " + number(in_data) +
                                           " of the data, but the file ends at byte " + number(file_bytes));
  }
  return {};
}

Status Parser::refuse_overlap() {
  std::vector<std::uint32_t> order(file_.tensors_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto& tensors = file_.tensors_;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return tensors[a].offset < tensors[b].offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = tensors[order[i - 1]];
    const TensorInfo& tensor = tensors[order[i]];
    if (before.offset + std::max<std::uint64_t>(before.bytes, 1) > tensor.offset) {
      return corrupt(tensor.offset,
                     "tensors " + quoted(before.name) + " and " + quoted(tensor.name) + " lie over each other");
    }
  }
  return {};
}

}  // namespace larder::gguf
