// SPDX-License-Identifier: Apache-2.0
// Interpreter: runs one Program once over one set of variables and writes marked text. One object per render.
// Scopes:  a for iteration, a macro, and a block that is captured have their own scope; `if` and `generation` do not;
//          `set` writes to the innermost. Macros see the scope they were defined in.
// Errors:  kInvalidArgument naming the template's line, kResourceExhausted from the Meter.
// Owns:    scopes and the Heap until it is destroyed.    Threads: one.
// Source:  Jinja 3.1 documentation, "Template Designer Documentation".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/chat_template/ast.h"
#include "runtime/chat_template/builtins.h"
#include "runtime/chat_template/meter.h"

namespace larder::chat_template {

struct Scope {
  Scope* parent = nullptr;
  std::vector<std::pair<std::string_view, Value>> names;  // names live in the Program or are literals
  bool kept = false;                                      // a macro defined in it may still read it

  Value* find(std::string_view name);
  void set(std::string_view name, Value value);
};

struct LocalTime {
  WallTime now = 0;
  std::int32_t utc_offset_s = 0;
};

class Interpreter {
 public:
  Interpreter(const Program& program, Meter meter, LocalTime time);

  Heap& heap() { return heap_; }
  Meter& meter() { return meter_; }
  // Before run(): a variable of the template. `name` outlives this object.
  void define(std::string_view name, Value value) { scope_->set(name, std::move(value)); }

  Result<MarkedString> run();
  bool time_was_read() const { return time_was_read_; }

  // For filters: value.name, dotted and with integers, as map(attribute=…) takes it.
  Result<Value> attribute_path(const Value& value, std::string_view path);
  Result<bool> equal_values(const Value& a, const Value& b) { return equal(meter_, a, b); }

 private:
  enum class Flow : std::uint8_t { kNormal, kBreak, kContinue };
  class ScopeGuard;

  // interpreter.cc: statements
  Result<Flow> execute(const Body& body);
  Result<Flow> execute(const Stmt& stmt);
  Status print(const Stmt& stmt);
  Result<Flow> execute_for(const Stmt& stmt);
  Result<std::vector<Value>> loop_items(const Stmt& stmt);
  Result<Flow> execute_if(const Stmt& stmt);
  Status execute_set(const Stmt& stmt);
  Result<Flow> execute_captured(const Stmt& stmt);  // set and filter blocks
  Status execute_call_block(const Stmt& stmt);
  Status assign(const std::vector<Target>& targets, const Value& value);
  Result<Flow> capture(const Body& body, MarkedString& out);
  Status write(const MarkedString& text);
  Result<Value> call_macro(const Macro& macro, const Args& args, const Value& caller);
  Status bind_parameters(const Stmt& macro, const Args& args, std::string_view name);

  // interpreter_expr.cc: expressions
  Result<Value> evaluate(const Expr& expr);
  Result<Value> evaluate_kind(const Expr& expr);
  Result<Value> name(const Expr& expr);
  Result<Value> container(const Expr& expr);
  Result<Value> sign(const Expr& expr);
  Result<Value> binary(const Expr& expr);
  Result<Value> add(const Value& left, const Value& right);
  Result<Value> repeat(const Value& value, std::int64_t count);
  Result<Value> arithmetic(Op op, const Value& left, const Value& right);
  Result<Value> compare_chain(const Expr& expr);
  Result<bool> compare_pair(Op op, const Value& left, const Value& right);
  Result<Value> logic(const Expr& expr);
  Result<Value> concat(const Expr& expr);
  Result<Value> conditional(const Expr& expr);
  Result<Value> attribute(const Value& object, std::string_view name, bool item_first);
  Result<Value> item(const Value& object, const Value& key);
  Result<Value> slice(const Expr& expr);
  Result<Value> loop_attribute(const Loop& loop, std::string_view name);
  Result<Args> arguments(const Expr& expr);
  Result<Value> call(const Expr& expr);
  Result<Value> call_with(const Expr& expr, const Value& caller);
  Result<Value> call_global(const Expr& expr, const Args& args);
  Result<Value> make_range(const Args& args);
  Result<Value> make_namespace(const Args& args);
  Result<Value> filter(const Expr& expr, const Value* input);
  Result<Value> apply_filters(const Expr& chain, const Value& input);

  Scope* new_scope(Scope* parent);

  const Program& program_;
  Meter meter_;
  LocalTime time_;
  Heap heap_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<Scope*> free_scopes_;
  Scope* scope_ = nullptr;
  MarkedString* out_ = nullptr;
  bool time_was_read_ = false;
};

// Source: strftime of C and POSIX, in the C locale; the directives that chat templates use.
Result<std::string> format_time(std::string_view format, LocalTime time);

}  // namespace larder::chat_template
