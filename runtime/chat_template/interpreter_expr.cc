// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "runtime/chat_template/interpreter.h"

namespace larder::chat_template {
namespace {

Error failure(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message), {}}; }

std::string quoted(std::string_view name) { return "'" + std::string(name.substr(0, 64)) + "'"; }

bool is_global(std::string_view name) {
  return name == "namespace" || name == "range" || name == "raise_exception" || name == "strftime_now";
}

// Python's slice.indices for one bound.
std::int64_t clamp_bound(std::int64_t bound, std::int64_t length, std::int64_t step) {
  if (bound < 0) bound += length;
  const std::int64_t low = step < 0 ? -1 : 0;
  const std::int64_t high = step < 0 ? length - 1 : length;
  return std::clamp(bound, low, std::max(low, high));
}

}  // namespace

Result<Value> Interpreter::evaluate(const Expr& expr) {
  if (expr.kind == ExprKind::kLiteral) return expr.literal;
  RETURN_IF_ERROR(meter_.enter());
  Result<Value> value = evaluate_kind(expr);
  meter_.leave();
  return value;
}

Result<Value> Interpreter::evaluate_kind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kLiteral: return expr.literal;
    case ExprKind::kName: return name(expr);
    case ExprKind::kList:
    case ExprKind::kTuple:
    case ExprKind::kDict: return container(expr);
    case ExprKind::kNot: {
      ASSIGN_OR_RETURN(const Value value, evaluate(*expr.operands[0]));
      return Value::boolean(!truthy(value));
    }
    case ExprKind::kNegate:
    case ExprKind::kPlus: return sign(expr);
    case ExprKind::kBinary: return binary(expr);
    case ExprKind::kCompare: return compare_chain(expr);
    case ExprKind::kAnd:
    case ExprKind::kOr: return logic(expr);
    case ExprKind::kConcat: return concat(expr);
    case ExprKind::kConditional: return conditional(expr);
    case ExprKind::kAttribute: {
      ASSIGN_OR_RETURN(const Value object, evaluate(*expr.operands[0]));
      return attribute(object, expr.name, false);
    }
    case ExprKind::kItem: {
      ASSIGN_OR_RETURN(const Value object, evaluate(*expr.operands[0]));
      ASSIGN_OR_RETURN(const Value key, evaluate(*expr.operands[1]));
      return item(object, key);
    }
    case ExprKind::kSlice: return slice(expr);
    case ExprKind::kCall: return call(expr);
    case ExprKind::kMethodCall: {
      ASSIGN_OR_RETURN(const Value object, evaluate(*expr.operands[0]));
      ASSIGN_OR_RETURN(const Args args, arguments(expr));
      return expr.method(*this, object, args);
    }
    case ExprKind::kFilter: return filter(expr, nullptr);
    case ExprKind::kTest: {
      ASSIGN_OR_RETURN(const Value input, evaluate(*expr.operands[0]));
      ASSIGN_OR_RETURN(const Args args, arguments(expr));
      ASSIGN_OR_RETURN(const bool holds, expr.test(*this, input, args));
      return Value::boolean(holds);
    }
  }
  return Value();
}

Result<Value> Interpreter::name(const Expr& expr) {
  for (Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    if (const Value* found = scope->find(expr.name); found != nullptr) return *found;
  }
  return is_global(expr.name) ? Value::function() : Value();
}

Result<Value> Interpreter::container(const Expr& expr) {
  std::vector<Value> items;
  for (const Expr* operand : expr.operands) {
    ASSIGN_OR_RETURN(Value value, evaluate(*operand));
    items.push_back(std::move(value));
  }
  if (expr.kind == ExprKind::kList) return heap_.list(std::move(items));
  if (expr.kind == ExprKind::kTuple) return heap_.list(std::move(items), Kind::kTuple);
  Dict* dict = heap_.dict();
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    RETURN_IF_ERROR(dict->set(std::move(items[i]), std::move(items[i + 1])));
  }
  return Value::object(Kind::kDict, dict);
}

Result<Value> Interpreter::sign(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value value, evaluate(*expr.operands[0]));
  if (!value.is_number()) return wrong_type("a sign", value, "a number");
  if (value.is(Kind::kFloat)) {
    return Value::real(expr.kind == ExprKind::kNegate ? -value.as_double() : value.as_double());
  }
  if (expr.kind == ExprKind::kPlus) return Value::integer(value.as_int());
  return arithmetic(Op::kSubtract, Value::integer(0), value);
}

Result<Value> Interpreter::binary(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value left, evaluate(*expr.operands[0]));
  ASSIGN_OR_RETURN(const Value right, evaluate(*expr.operands[1]));
  const Op op = expr.ops[0];
  if (left.is_number() && right.is_number()) return arithmetic(op, left, right);
  if (op == Op::kAdd) return add(left, right);
  if (op == Op::kMultiply && right.is_integral()) return repeat(left, right.as_int());
  if (op == Op::kMultiply && left.is_integral()) return repeat(right, left.as_int());
  return failure("this operator is not defined for a " + std::string(kind_name(left.kind())) + " and a " +
                 std::string(kind_name(right.kind())));
}

Result<Value> Interpreter::add(const Value& left, const Value& right) {
  if (left.is(Kind::kString) && right.is(Kind::kString)) {
    RETURN_IF_ERROR(meter_.charge_text(left.as_text().size() + right.as_text().size()));
    MarkedString joined = left.as_text();
    joined.append(right.as_text());
    return Value::text(std::move(joined));
  }
  if (left.is_sequence() && left.kind() == right.kind()) {
    std::vector<Value> items = left.as_list().items;
    RETURN_IF_ERROR(meter_.charge(items.size() + right.as_list().items.size()));
    items.insert(items.end(), right.as_list().items.begin(), right.as_list().items.end());
    return heap_.list(std::move(items), left.kind());
  }
  return failure("'+' is not defined for a " + std::string(kind_name(left.kind())) + " and a " +
                 std::string(kind_name(right.kind())));
}

Result<Value> Interpreter::repeat(const Value& value, std::int64_t count) {
  const std::uint64_t times = count > 0 ? static_cast<std::uint64_t>(count) : 0;
  constexpr std::uint64_t kMaxTimes = std::uint64_t{1} << 32;
  if (value.is(Kind::kString)) {
    RETURN_IF_ERROR(meter_.charge_text(std::min(times, kMaxTimes) * value.as_text().size()));
    RETURN_IF_ERROR(meter_.charge(times / 16));
    MarkedString repeated;
    for (std::uint64_t i = 0; i < times; ++i) repeated.append(value.as_text());
    return Value::text(std::move(repeated));
  }
  if (!value.is_sequence()) return wrong_type("'*'", value, "a number, str or list");
  RETURN_IF_ERROR(meter_.charge(std::min(times, kMaxTimes) * (1 + value.as_list().items.size())));
  std::vector<Value> items;
  for (std::uint64_t i = 0; i < times; ++i) {
    items.insert(items.end(), value.as_list().items.begin(), value.as_list().items.end());
  }
  return heap_.list(std::move(items), value.kind());
}

Result<bool> Interpreter::compare_pair(Op op, const Value& left, const Value& right) {
  switch (op) {
    case Op::kEqual: return equal(meter_, left, right);
    case Op::kNotEqual: {
      ASSIGN_OR_RETURN(const bool same, equal(meter_, left, right));
      return !same;
    }
    case Op::kIn: return contains(meter_, right, left);
    case Op::kNotIn: {
      ASSIGN_OR_RETURN(const bool inside, contains(meter_, right, left));
      return !inside;
    }
    default: break;
  }
  ASSIGN_OR_RETURN(const int order, compare(meter_, left, right));
  switch (op) {
    case Op::kLess: return order < 0;
    case Op::kLessEqual: return order <= 0;
    case Op::kGreater: return order > 0;
    default: return order >= 0;
  }
}

Result<Value> Interpreter::compare_chain(const Expr& expr) {
  ASSIGN_OR_RETURN(Value left, evaluate(*expr.operands[0]));
  for (std::size_t i = 0; i < expr.ops.size(); ++i) {
    ASSIGN_OR_RETURN(Value right, evaluate(*expr.operands[i + 1]));
    ASSIGN_OR_RETURN(const bool holds, compare_pair(expr.ops[i], left, right));
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::logic(const Expr& expr) {
  ASSIGN_OR_RETURN(Value left, evaluate(*expr.operands[0]));
  if (truthy(left) == (expr.kind == ExprKind::kOr)) return left;
  return evaluate(*expr.operands[1]);
}

Result<Value> Interpreter::concat(const Expr& expr) {
  MarkedString joined;
  for (const Expr* operand : expr.operands) {
    ASSIGN_OR_RETURN(const Value value, evaluate(*operand));
    ASSIGN_OR_RETURN(const MarkedString text, to_text(meter_, value));
    RETURN_IF_ERROR(meter_.charge_text(joined.size() + text.size()));
    joined.append(text);
  }
  return Value::text(std::move(joined));
}

Result<Value> Interpreter::conditional(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value condition, evaluate(*expr.operands[1]));
  if (truthy(condition)) return evaluate(*expr.operands[0]);
  if (expr.operands.size() < 3) return Value();
  return evaluate(*expr.operands[2]);
}

Result<Value> Interpreter::attribute(const Value& object, std::string_view name, bool item_first) {
  switch (object.kind()) {
    case Kind::kUndefined:
      return failure("the attribute " + quoted(name) + " of an undefined value was read");
    case Kind::kDict: {
      const Value* found = object.as_dict().find(name);
      const bool method = is_method_of(Kind::kDict, name);
      if (method && (!item_first || found == nullptr)) return Value::function();
      return found != nullptr ? *found : Value();
    }
    case Kind::kNamespace: {
      const Value* found = object.as_dict().find(name);
      return found != nullptr ? *found : Value();
    }
    case Kind::kLoop:
      return loop_attribute(object.as_loop(), name);
    default:
      return is_method_of(object.kind(), name) ? Value::function() : Value();
  }
}

Result<Value> Interpreter::item(const Value& object, const Value& key) {
  if (object.is(Kind::kUndefined)) return failure("an element of an undefined value was read");
  if (key.is(Kind::kString)) return attribute(object, key.as_text().bytes(), true);
  if (object.is(Kind::kDict)) {
    const Value* found = object.as_dict().find(key);
    return found != nullptr ? *found : Value();
  }
  if (!key.is_integral()) return Value();
  std::int64_t place = key.as_int();
  if (object.is_sequence()) {
    const std::vector<Value>& items = object.as_list().items;
    if (place < 0) place += static_cast<std::int64_t>(items.size());
    if (place < 0 || place >= static_cast<std::int64_t>(items.size())) return Value();
    return items[static_cast<std::size_t>(place)];
  }
  if (!object.is(Kind::kString)) return Value();
  const MarkedString& text = object.as_text();
  RETURN_IF_ERROR(meter_.charge_text(text.size()));
  if (place < 0) place += static_cast<std::int64_t>(count_characters(text.bytes()));
  if (place < 0) return Value();
  const std::size_t byte = character_offset(text.bytes(), static_cast<std::size_t>(place));
  if (byte >= text.size()) return Value();
  return Value::text(text.slice(byte, byte + character_bytes(text.bytes(), byte)));
}

Result<Value> Interpreter::slice(const Expr& expr) {
  ASSIGN_OR_RETURN(const Value object, evaluate(*expr.operands[0]));
  std::vector<Value> bounds(3, Value::none());
  for (std::size_t i = 0; i < 3; ++i) {
    if (expr.operands[i + 1] == nullptr) continue;
    ASSIGN_OR_RETURN(bounds[i], evaluate(*expr.operands[i + 1]));
    if (!bounds[i].is_integral() && !bounds[i].is(Kind::kNone)) return wrong_type("a slice", bounds[i], "an int");
  }
  if (!object.is_sequence() && !object.is(Kind::kString)) return wrong_type("a slice", object, "a list or str");
  const std::int64_t step = bounds[2].is(Kind::kNone) ? 1 : bounds[2].as_int();
  if (step == 0) return failure("the step of a slice is 0");
  ASSIGN_OR_RETURN(const std::vector<Value> characters,
                   object.is(Kind::kString) && step != 1 ? elements(meter_, object) : std::vector<Value>());
  ASSIGN_OR_RETURN(const std::size_t size, length_of(object));
  RETURN_IF_ERROR(meter_.charge(1 + (object.is(Kind::kString) ? object.as_text().size() / 64 : size)));
  const std::int64_t length = static_cast<std::int64_t>(size);
  const std::int64_t begin = bounds[0].is(Kind::kNone) ? (step < 0 ? length - 1 : 0)
                                                       : clamp_bound(bounds[0].as_int(), length, step);
  const std::int64_t end = bounds[1].is(Kind::kNone) ? (step < 0 ? -1 : length)
                                                     : clamp_bound(bounds[1].as_int(), length, step);
  if (object.is(Kind::kString) && step == 1) {
    const MarkedString& text = object.as_text();
    if (begin >= end) return Value::text(MarkedString());
    return Value::text(text.slice(character_offset(text.bytes(), static_cast<std::size_t>(begin)),
                                  character_offset(text.bytes(), static_cast<std::size_t>(end))));
  }
  const std::vector<Value>& source = object.is(Kind::kString) ? characters : object.as_list().items;
  std::vector<Value> items;
  for (std::int64_t at = begin; step > 0 ? at < end : at > end;) {
    items.push_back(source[static_cast<std::size_t>(at)]);
    if (step > length || step < -length) break;
    at += step;
  }
  if (!object.is(Kind::kString)) return heap_.list(std::move(items), object.kind());
  MarkedString text;
  for (const Value& one : items) text.append(one.as_text());
  return Value::text(std::move(text));
}

Result<Value> Interpreter::loop_attribute(const Loop& loop, std::string_view name) {
  if (loop.at >= loop.items.size()) return Value();  // its loop is over
  const std::int64_t at = static_cast<std::int64_t>(loop.at);
  const std::int64_t length = static_cast<std::int64_t>(loop.items.size());
  if (name == "index") return Value::integer(at + 1);
  if (name == "index0") return Value::integer(at);
  if (name == "revindex") return Value::integer(length - at);
  if (name == "revindex0") return Value::integer(length - at - 1);
  if (name == "first") return Value::boolean(at == 0);
  if (name == "last") return Value::boolean(at + 1 == length);
  if (name == "length") return Value::integer(length);
  if (name == "previtem") return at > 0 ? loop.items[loop.at - 1] : Value();
  if (name == "nextitem") return at + 1 < length ? loop.items[loop.at + 1] : Value();
  return Value();
}

Result<Args> Interpreter::arguments(const Expr& expr) {
  Args args;
  for (const Expr* arg : expr.args) {
    ASSIGN_OR_RETURN(Value value, evaluate(*arg));
    args.positional.push_back(std::move(value));
  }
  for (const auto& [name, arg] : expr.named_args) {
    ASSIGN_OR_RETURN(Value value, evaluate(*arg));
    args.named.emplace_back(name, std::move(value));
  }
  return args;
}

Result<Value> Interpreter::filter(const Expr& expr, const Value* input) {
  Value value;
  if (expr.operands[0] != nullptr) {
    // A filter block's chain is evaluated from its innermost filter, whose operand is the block.
    if (input != nullptr) {
      ASSIGN_OR_RETURN(value, filter(*expr.operands[0], input));
    } else {
      ASSIGN_OR_RETURN(value, evaluate(*expr.operands[0]));
    }
  } else if (input != nullptr) {
    value = *input;
  }
  ASSIGN_OR_RETURN(const Args args, arguments(expr));
  return expr.filter(*this, value, args);
}

Result<Value> Interpreter::apply_filters(const Expr& chain, const Value& input) { return filter(chain, &input); }

Result<Value> Interpreter::attribute_path(const Value& value, std::string_view path) {
  Value at = value;
  while (!path.empty()) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    const std::string_view part = path.substr(0, dot);
    path.remove_prefix(std::min(dot + 1, path.size()));
    std::int64_t place = 0;
    const auto end = std::from_chars(part.data(), part.data() + part.size(), place);
    const bool number = !part.empty() && end.ec == std::errc() && end.ptr == part.data() + part.size();
    ASSIGN_OR_RETURN(at, item(at, number ? Value::integer(place) : Value::text(part)));
  }
  return at;
}

}  // namespace larder::chat_template
