// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "runtime/chat_template/builtins.h"
#include "runtime/chat_template/interpreter.h"

namespace larder::chat_template {
namespace {

Error failure(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

Result<Value> method_strip(Interpreter& run, const Value& self, const Args& args, bool left, bool right) {
  if (!self.is(Kind::kString)) return wrong_type("strip", self, "a str");
  const Value* chars = args.get(0, "chars");
  const bool given = chars != nullptr && chars->is(Kind::kString);
  RETURN_IF_ERROR(run.meter().charge_search(self.as_text().size(), given ? chars->as_text().size() * 64 : 0));
  return Value::text(strip(self.as_text(), given ? &chars->as_text().bytes() : nullptr, left, right));
}
Result<Value> method_strip_both(Interpreter& run, const Value& self, const Args& args) {
  return method_strip(run, self, args, true, true);
}
Result<Value> method_lstrip(Interpreter& run, const Value& self, const Args& args) {
  return method_strip(run, self, args, true, false);
}
Result<Value> method_rstrip(Interpreter& run, const Value& self, const Args& args) {
  return method_strip(run, self, args, false, true);
}

Result<Value> method_split(Interpreter& run, const Value& self, const Args& args) {
  if (!self.is(Kind::kString)) return wrong_type("split", self, "a str");
  const Value* separator = args.get(0, "sep");
  ASSIGN_OR_RETURN(const std::int64_t limit, integer_arg(args.get(1, "maxsplit"), -1, "the limit of split"));
  const MarkedString& text = self.as_text();
  std::vector<MarkedString> parts;
  if (separator == nullptr || separator->is(Kind::kNone)) {
    RETURN_IF_ERROR(run.meter().charge(1 + text.size() / 2));
    parts = split(text, limit);
  } else {
    if (!separator->is(Kind::kString)) return wrong_type("split", *separator, "a str");
    const std::string& by = separator->as_text().bytes();
    if (by.empty()) return failure("split: the separator is empty");
    RETURN_IF_ERROR(run.meter().charge_search(text.size(), by.size()));
    RETURN_IF_ERROR(run.meter().charge(text.size() / by.size()));
    parts = split(text, by, limit);
  }
  std::vector<Value> items;
  for (MarkedString& part : parts) items.push_back(Value::text(std::move(part)));
  return run.heap().list(std::move(items));
}

Result<Value> affix(const Value& self, const Args& args, bool front) {
  if (!self.is(Kind::kString)) return wrong_type("startswith and endswith", self, "a str");
  const Value* given = args.get(0, front ? "prefix" : "suffix");
  if (given == nullptr) return failure("startswith and endswith need a str");
  const std::vector<Value> one = given->is(Kind::kTuple) ? given->as_list().items : std::vector<Value>{*given};
  const std::string_view text = self.as_text().bytes();
  for (const Value& candidate : one) {
    if (!candidate.is(Kind::kString)) return wrong_type("startswith and endswith", candidate, "a str");
    const std::string_view wanted = candidate.as_text().bytes();
    if (wanted.size() > text.size()) continue;
    if (text.substr(front ? 0 : text.size() - wanted.size(), wanted.size()) == wanted) return Value::boolean(true);
  }
  return Value::boolean(false);
}
Result<Value> method_startswith(Interpreter& run, const Value& self, const Args& args) {
  if (self.is(Kind::kString)) RETURN_IF_ERROR(run.meter().charge_text(self.as_text().size()));
  return affix(self, args, true);
}
Result<Value> method_endswith(Interpreter& run, const Value& self, const Args& args) {
  if (self.is(Kind::kString)) RETURN_IF_ERROR(run.meter().charge_text(self.as_text().size()));
  return affix(self, args, false);
}

// The filter of the same name does it, on a str only.
template <const char* kName>
Result<Value> as_filter(Interpreter& run, const Value& self, const Args& args) {
  if (!self.is(Kind::kString)) return wrong_type(kName, self, "a str");
  return find_filter(kName)(run, self, args);
}
constexpr char kReplaceName[] = "replace";
constexpr char kLowerName[] = "lower";
constexpr char kUpperName[] = "upper";
constexpr char kCapitalizeName[] = "capitalize";

Result<Value> method_items(Interpreter& run, const Value& self, const Args& args) {
  if (!self.is(Kind::kDict)) return wrong_type("items", self, "a dict");
  return filter_items(run, self, args);
}

Result<Value> method_keys(Interpreter& run, const Value& self, const Args& args) {
  if (!self.is(Kind::kDict)) return wrong_type("keys", self, "a dict");
  return filter_list(run, self, args);
}

Result<Value> method_values(Interpreter& run, const Value& self, const Args&) {
  if (!self.is(Kind::kDict)) return wrong_type("values", self, "a dict");
  RETURN_IF_ERROR(run.meter().charge(self.as_dict().entries.size()));
  std::vector<Value> values;
  for (const auto& [key, value] : self.as_dict().entries) values.push_back(value);
  return run.heap().list(std::move(values));
}

Result<Value> method_get(Interpreter&, const Value& self, const Args& args) {
  if (!self.is(Kind::kDict)) return wrong_type("get", self, "a dict");
  const Value* key = args.get(0, "key");
  if (key == nullptr) return failure("get needs a key");
  if (const Value* found = self.as_dict().find(*key); found != nullptr) return *found;
  const Value* otherwise = args.get(1, "default");
  return otherwise != nullptr ? *otherwise : Value::none();
}

Result<Value> method_append(Interpreter& run, const Value& self, const Args& args) {
  if (!self.is(Kind::kList)) return wrong_type("append", self, "a list");
  if (args.positional.size() != 1) return failure("append needs one value");
  RETURN_IF_ERROR(run.meter().charge(1));
  self.as_list().items.push_back(args.positional[0]);
  return Value::none();
}

Result<Value> method_pop(Interpreter& run, const Value& self, const Args& args) {
  if (self.is(Kind::kDict)) {
    const Value* key = args.get(0, "key");
    if (key == nullptr) return failure("pop needs a key");
    const Value* found = self.as_dict().find(*key);
    if (found == nullptr) {
      const Value* otherwise = args.get(1, "default");
      return otherwise != nullptr ? Result<Value>(*otherwise) : failure("pop: the dict has no such key");
    }
    RETURN_IF_ERROR(run.meter().charge(self.as_dict().entries.size()));
    Value taken = *found;
    const Value key_copy = *key;
    self.as_dict().erase(key_copy);
    return taken;
  }
  if (!self.is(Kind::kList)) return wrong_type("pop", self, "a list or dict");
  std::vector<Value>& items = self.as_list().items;
  const std::int64_t length = static_cast<std::int64_t>(items.size());
  ASSIGN_OR_RETURN(std::int64_t place, integer_arg(args.get(0, "index"), -1, "the place of pop"));
  if (place < 0) place += length;
  if (place < 0 || place >= length) return failure("pop: the list is empty or has no such place");
  RETURN_IF_ERROR(run.meter().charge(static_cast<std::uint64_t>(length - place) / 16));
  Value taken = items[static_cast<std::size_t>(place)];
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(place));
  return taken;
}

struct NamedMethod {
  std::string_view name;
  Kind kind;        // of the values that have it; kNone: lists and dicts
  MethodFn function;
};

constexpr std::array<NamedMethod, 16> kMethods = {{
    {"append", Kind::kList, method_append},
    {"capitalize", Kind::kString, as_filter<kCapitalizeName>},
    {"endswith", Kind::kString, method_endswith},
    {"get", Kind::kDict, method_get},
    {"items", Kind::kDict, method_items},
    {"keys", Kind::kDict, method_keys},
    {"lower", Kind::kString, as_filter<kLowerName>},
    {"lstrip", Kind::kString, method_lstrip},
    {"pop", Kind::kNone, method_pop},
    {"replace", Kind::kString, as_filter<kReplaceName>},
    {"rstrip", Kind::kString, method_rstrip},
    {"split", Kind::kString, method_split},
    {"startswith", Kind::kString, method_startswith},
    {"strip", Kind::kString, method_strip_both},
    {"upper", Kind::kString, as_filter<kUpperName>},
    {"values", Kind::kDict, method_values},
}};

const NamedMethod* find_named(std::string_view name) {
  const auto found = std::find_if(kMethods.begin(), kMethods.end(), [name](const NamedMethod& one) {
    return one.name == name;
  });
  return found == kMethods.end() ? nullptr : found;
}

}  // namespace

MethodFn find_method(std::string_view name) {
  const NamedMethod* found = find_named(name);
  return found == nullptr ? nullptr : found->function;
}

bool is_method_of(Kind kind, std::string_view name) {
  const NamedMethod* found = find_named(name);
  if (found == nullptr) return false;
  return found->kind == kind || (found->kind == Kind::kNone && (kind == Kind::kList || kind == Kind::kDict));
}

}  // namespace larder::chat_template
