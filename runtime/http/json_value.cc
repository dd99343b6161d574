// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/json_value.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "runtime/http/json_writer.h"

namespace larder::http {
namespace {

using Type = JsonValue::Type;

// Keeps the first place and the last value of every name.
void drop_duplicates(std::vector<JsonMember>& members) {
  if (members.size() < 2) return;
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<bool> drop(members.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto [place, fresh] = places.emplace(members[i].name, i);
    if (fresh) continue;
    members[place->second].value = std::move(members[i].value);
    drop[i] = any = true;
  }
  if (!any) return;
  std::vector<JsonMember> kept;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!drop[i]) kept.push_back(std::move(members[i]));
  }
  members = std::move(kept);
}

// Builds the tree from the parser's events and stops it at the limits.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const JsonLimits& limits, JsonValue& root) : limits_(limits), root_(root) {}

  bool null() override { return place(JsonValue{}); }
  bool boolean(bool value) override {
    JsonValue json;
    json.type = Type::kFlag;
    json.flag = value;
    return place(std::move(json));
  }
  bool number_integer(number_integer_t value) override {
    JsonValue json;
    json.type = Type::kInteger;
    json.integer = value;
    json.number = static_cast<double>(value);
    return place(std::move(json));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
      return number_integer(static_cast<number_integer_t>(value));
    }
    return number_float(static_cast<double>(value), std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& written) override {
    JsonValue json;
    json.type = Type::kNumber;
    json.number = value;
    json.text = written;
    return place(std::move(json));
  }
  bool string(string_t& value) override {
    JsonValue json;
    json.type = Type::kText;
    json.text = std::move(value);
    return place(std::move(json));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*count*/) override { return open(Type::kObject); }
  bool start_array(std::size_t /*count*/) override { return open(Type::kArray); }
  bool key(string_t& name) override {
    keys_.back() = std::move(name);
    return true;
  }
  bool end_object() override {
    drop_duplicates(open_.back().members);
    return close();
  }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*failure*/) override {
    error_ = "the body is not JSON: it breaks at byte " + std::to_string(position);
    return false;
  }

  const std::string& error() const { return error_; }

 private:
  bool open(Type type) {
    if (open_.size() >= limits_.depth) {
      error_ = "the body nests deeper than " + std::to_string(limits_.depth) + " levels";
      return false;
    }
    JsonValue json;
    json.type = type;
    open_.push_back(std::move(json));
    keys_.emplace_back();
    return count();
  }
  bool close() {
    JsonValue json = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    --values_;  // place counts it again
    return place(std::move(json));
  }
  bool count() {
    if (++values_ <= limits_.values) return true;
    error_ = "the body holds more than " + std::to_string(limits_.values) + " values";
    return false;
  }
  bool place(JsonValue json) {
    if (!count()) return false;
    if (open_.empty()) {
      root_ = std::move(json);
    } else if (open_.back().type == Type::kArray) {
      open_.back().items.push_back(std::move(json));
    } else {
      open_.back().members.push_back({std::move(keys_.back()), std::move(json)});
    }
    return true;
  }

  const JsonLimits& limits_;
  JsonValue& root_;
  std::vector<JsonValue> open_;
  std::vector<std::string> keys_;
  std::size_t values_ = 0;
  std::string error_;
};

void write(JsonWriter& out, const JsonValue& value) {
  switch (value.type) {
    case Type::kNull: out.null(); return;
    case Type::kFlag: out.flag(value.flag); return;
    case Type::kInteger: out.integer(value.integer); return;
    case Type::kNumber: out.raw(value.text); return;
    case Type::kText: out.text(value.text); return;
    case Type::kArray:
      out.begin_array();
      for (const JsonValue& item : value.items) write(out, item);
      out.end_array();
      return;
    case Type::kObject:
      out.begin_object();
      for (const auto& [name, member] : value.members) write(out.key(name), member);
      out.end_object();
      return;
  }
}

}  // namespace

JsonValue::JsonValue() = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(const JsonValue&) = default;
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue&) = default;
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto found = std::find_if(members.begin(), members.end(), [&](const JsonMember& m) { return m.name == name; });
  return found == members.end() || found->value.type == Type::kNull ? nullptr : &found->value;
}

Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits) {
  JsonValue root;
  Builder builder(limits, root);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    return Error{ErrorCode::kInvalidArgument, builder.error().empty() ? "the body is not JSON" : builder.error(), ""};
  }
  return root;
}

std::string to_json(const JsonValue& value) {
  JsonWriter out;
  write(out, value);
  return out.take();
}

std::string_view type_name(JsonValue::Type type) {
  switch (type) {
    case Type::kNull: return "null";
    case Type::kFlag: return "a boolean";
    case Type::kInteger: return "an integer";
    case Type::kNumber: return "a number";
    case Type::kText: return "a string";
    case Type::kArray: return "an array";
    case Type::kObject: return "an object";
  }
  return "null";
}

}  // namespace larder::http
