// SPDX-License-Identifier: Apache-2.0
// Value: what a template computes with: Python's None, bool, int, float, str, list, tuple and dict as far as chat
// templates use them, Jinja's undefined, and a few objects of the engine. Text carries marks (marked_string.h).
// Owns:    containers live in a Heap until the render ends; a Value points at them. Text is shared and immutable.
// Errors:  kInvalidArgument for what Python would call a TypeError, kResourceExhausted for nesting over kMaxNesting.
// Threads: one at a time, except literals, which are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/chat_template/marked_string.h"
#include "runtime/chat_template/meter.h"

namespace larder::chat_template {

inline constexpr int kMaxNesting = 100;

enum class Kind : std::uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kFloat,
  kBigInt,  // an integer beyond 64 bits, from JSON: kept as its digits, printed, never computed with
  kString,
  kList,
  kTuple,
  kDict,
  kNamespace,
  kMacro,
  kLoop,
  kFunction,  // a global or a method that was named without being called
};

struct List;
struct Dict;
struct Macro;
struct Loop;

class Value {
 public:
  Value() = default;  // undefined
  static Value none() { return of(Kind::kNone); }
  static Value function() { return of(Kind::kFunction); }
  static Value boolean(bool value);
  static Value integer(std::int64_t value);
  static Value real(double value);
  static Value big_integer(std::string digits);
  static Value text(MarkedString value);
  static Value text(std::string_view bytes, Source source = kTrusted) { return text(MarkedString(bytes, source)); }
  static Value object(Kind kind, List* list);  // kList, kTuple
  static Value object(Kind kind, Dict* dict);  // kDict, kNamespace
  static Value object(Macro* macro);
  static Value object(Loop* loop);

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_number() const { return is(Kind::kBool) || is(Kind::kInt) || is(Kind::kFloat); }
  bool is_integral() const { return is(Kind::kBool) || is(Kind::kInt); }
  bool is_sequence() const { return is(Kind::kList) || is(Kind::kTuple); }

  std::int64_t as_int() const { return int_; }  // kBool, kInt
  double as_double() const { return is(Kind::kFloat) ? float_ : static_cast<double>(int_); }
  const MarkedString& as_text() const { return *text_; }  // kString, kBigInt
  List& as_list() const { return *list_; }
  Dict& as_dict() const { return *dict_; }
  const Macro& as_macro() const { return *macro_; }
  const Loop& as_loop() const { return *loop_; }

 private:
  static Value of(Kind kind) {
    Value value;
    value.kind_ = kind;
    return value;
  }

  Kind kind_ = Kind::kUndefined;
  union {
    std::int64_t int_ = 0;
    double float_;
    List* list_;
    Dict* dict_;
    Macro* macro_;
    Loop* loop_;
  };
  std::shared_ptr<const MarkedString> text_;
};

struct List {
  std::vector<Value> items;
};

// Keys keep the order in which they came; a key set again keeps its place.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  std::unordered_map<std::string, std::size_t> index;  // by key_of

  const Value* find(std::string_view text_key) const;
  const Value* find(const Value& key) const;
  Status set(Value key, Value value);  // kInvalidArgument: a list or dict as a key
  void erase(const Value& key);
};

struct Loop {
  std::vector<Value> items;
  std::size_t at = 0;
};

struct Stmt;
struct Scope;

struct Macro {
  const Stmt* body = nullptr;
  Scope* defined_in = nullptr;
};

// Owns what a render makes.
class Heap {
 public:
  Value list(std::vector<Value> items, Kind kind = Kind::kList);
  Dict* dict();
  Value macro(const Stmt* body, Scope* defined_in);
  Loop* loop(std::vector<Value> items);

 private:
  std::vector<std::unique_ptr<List>> lists_;
  std::vector<std::unique_ptr<Dict>> dicts_;
  std::vector<std::unique_ptr<Macro>> macros_;
  std::vector<std::unique_ptr<Loop>> loops_;
};

std::string_view kind_name(Kind kind);  // as in Python's messages: "str", "dict"
bool truthy(const Value& value);
Result<bool> equal(Meter& meter, const Value& a, const Value& b, int depth = 0);
Result<int> compare(Meter& meter, const Value& a, const Value& b, int depth = 0);  // <0, 0, >0, or no order: an error
Result<bool> contains(Meter& meter, const Value& container, const Value& item);

// str(value).
Result<MarkedString> to_text(Meter& meter, const Value& value);
std::string float_text(double value);

// The elements that a for loop sees: items, keys, characters; undefined has none.
Result<std::vector<Value>> elements(Meter& meter, const Value& value);
Result<std::size_t> length_of(const Value& value);

}  // namespace larder::chat_template
