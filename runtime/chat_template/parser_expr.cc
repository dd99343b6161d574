// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "runtime/chat_template/builtins.h"
#include "runtime/chat_template/parser.h"

namespace larder::chat_template {
namespace {

constexpr std::uint32_t kMaxExprDepth = 100;
constexpr std::array<std::string_view, 9> kLoopAttributes = {"index",    "index0", "revindex", "revindex0", "first",
                                                             "last",     "length", "previtem", "nextitem"};

class Nesting {
 public:
  explicit Nesting(std::uint32_t& depth) : depth_(++depth) {}
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  bool too_deep() const { return depth_ > kMaxExprDepth; }

 private:
  std::uint32_t& depth_;
};

constexpr std::string_view kTooDeep = "an expression is nested too deeply";

std::string quoted(const std::string& name) { return "'" + name.substr(0, 64) + "'"; }

}  // namespace

Result<const Expr*> Parser::finish(Expr* node) {
  std::uint32_t height = 0;
  const auto include = [&height](const Expr* child) {
    if (child != nullptr) height = std::max(height, child->height);
  };
  std::for_each(node->operands.begin(), node->operands.end(), include);
  std::for_each(node->args.begin(), node->args.end(), include);
  for (const auto& [name, value] : node->named_args) include(value);
  node->height = height + 1;
  if (node->height > kMaxExprHeight) return fail(std::string(kTooDeep));
  return node;
}

Result<const Expr*> Parser::parse_tuple_or_expr(bool with_conditional) {
  const std::uint32_t line = peek().line;
  ASSIGN_OR_RETURN(const Expr* first, parse_expr(with_conditional));
  if (!is_op(",")) return first;
  Expr* tuple = program_->expr(ExprKind::kTuple, line);
  tuple->operands.push_back(first);
  while (accept_op(",")) {
    const TokenKind next = peek().kind;
    if (next == TokenKind::kPrintEnd || next == TokenKind::kBlockEnd || is_op(")") || is_name("if")) break;
    ASSIGN_OR_RETURN(const Expr* item, parse_expr(with_conditional));
    tuple->operands.push_back(item);
  }
  return finish(tuple);
}

Result<const Expr*> Parser::parse_expr(bool with_conditional) {
  const Nesting nesting(expr_depth_);
  if (nesting.too_deep()) return fail(std::string(kTooDeep));
  ASSIGN_OR_RETURN(const Expr* node, parse_or());
  while (with_conditional && is_name("if")) {
    Expr* conditional = program_->expr(ExprKind::kConditional, peek().line);
    ++at_;
    ASSIGN_OR_RETURN(const Expr* condition, parse_or());
    conditional->operands = {node, condition};
    if (accept_name("else")) {
      ASSIGN_OR_RETURN(const Expr* otherwise, parse_expr());
      conditional->operands.push_back(otherwise);
    }
    ASSIGN_OR_RETURN(node, finish(conditional));
  }
  return node;
}

Result<const Expr*> Parser::parse_or() {
  ASSIGN_OR_RETURN(const Expr* left, parse_and());
  while (is_name("or")) {
    Expr* node = program_->expr(ExprKind::kOr, peek().line);
    ++at_;
    ASSIGN_OR_RETURN(const Expr* right, parse_and());
    node->operands = {left, right};
    ASSIGN_OR_RETURN(left, finish(node));
  }
  return left;
}

Result<const Expr*> Parser::parse_and() {
  ASSIGN_OR_RETURN(const Expr* left, parse_not());
  while (is_name("and")) {
    Expr* node = program_->expr(ExprKind::kAnd, peek().line);
    ++at_;
    ASSIGN_OR_RETURN(const Expr* right, parse_not());
    node->operands = {left, right};
    ASSIGN_OR_RETURN(left, finish(node));
  }
  return left;
}

Result<const Expr*> Parser::parse_not() {
  if (!is_name("not")) return parse_compare();
  const Nesting nesting(expr_depth_);
  if (nesting.too_deep()) return fail(std::string(kTooDeep));
  Expr* node = program_->expr(ExprKind::kNot, peek().line);
  ++at_;
  ASSIGN_OR_RETURN(const Expr* operand, parse_not());
  node->operands = {operand};
  return finish(node);
}

Result<const Expr*> Parser::parse_compare() {
  constexpr std::array<std::pair<std::string_view, Op>, 6> kOps = {{{"==", Op::kEqual},
                                                                    {"!=", Op::kNotEqual},
                                                                    {"<", Op::kLess},
                                                                    {"<=", Op::kLessEqual},
                                                                    {">", Op::kGreater},
                                                                    {">=", Op::kGreaterEqual}}};
  const std::uint32_t line = peek().line;
  ASSIGN_OR_RETURN(const Expr* first, parse_sum());
  Expr* chain = nullptr;
  while (true) {
    const auto found = std::find_if(kOps.begin(), kOps.end(), [this](const auto& op) { return is_op(op.first); });
    Op op = Op::kIn;
    if (found != kOps.end()) {
      op = found->second;
      ++at_;
    } else if (is_name("not") && is_name("in", 1)) {
      op = Op::kNotIn;
      at_ += 2;
    } else if (!accept_name("in")) {
      break;
    }
    if (chain == nullptr) {
      chain = program_->expr(ExprKind::kCompare, line);
      chain->operands.push_back(first);
    }
    ASSIGN_OR_RETURN(const Expr* operand, parse_sum());
    chain->ops.push_back(op);
    chain->operands.push_back(operand);
  }
  if (chain == nullptr) return first;
  return finish(chain);
}

Result<const Expr*> Parser::parse_sum() {
  ASSIGN_OR_RETURN(const Expr* left, parse_concat());
  while (is_op("+") || is_op("-")) {
    Expr* node = program_->expr(ExprKind::kBinary, peek().line);
    node->ops.push_back(is_op("+") ? Op::kAdd : Op::kSubtract);
    ++at_;
    ASSIGN_OR_RETURN(const Expr* right, parse_concat());
    node->operands = {left, right};
    ASSIGN_OR_RETURN(left, finish(node));
  }
  return left;
}

Result<const Expr*> Parser::parse_concat() {
  ASSIGN_OR_RETURN(const Expr* first, parse_product());
  if (!is_op("~")) return first;
  Expr* node = program_->expr(ExprKind::kConcat, peek().line);
  node->operands.push_back(first);
  while (accept_op("~")) {
    ASSIGN_OR_RETURN(const Expr* operand, parse_product());
    node->operands.push_back(operand);
  }
  return finish(node);
}

Result<const Expr*> Parser::parse_product() {
  constexpr std::array<std::pair<std::string_view, Op>, 4> kOps = {
      {{"*", Op::kMultiply}, {"/", Op::kDivide}, {"//", Op::kFloorDivide}, {"%", Op::kModulo}}};
  ASSIGN_OR_RETURN(const Expr* left, parse_unary());
  while (true) {
    const auto found = std::find_if(kOps.begin(), kOps.end(), [this](const auto& op) { return is_op(op.first); });
    if (found == kOps.end()) return left;
    Expr* node = program_->expr(ExprKind::kBinary, peek().line);
    node->ops.push_back(found->second);
    ++at_;
    ASSIGN_OR_RETURN(const Expr* right, parse_unary());
    node->operands = {left, right};
    ASSIGN_OR_RETURN(left, finish(node));
  }
}

Result<const Expr*> Parser::parse_unary(bool with_filters) {
  const Nesting nesting(expr_depth_);
  if (nesting.too_deep()) return fail(std::string(kTooDeep));
  const Expr* node = nullptr;
  if (is_op("-") || is_op("+")) {
    Expr* sign = program_->expr(is_op("-") ? ExprKind::kNegate : ExprKind::kPlus, peek().line);
    ++at_;
    ASSIGN_OR_RETURN(const Expr* operand, parse_unary(false));
    sign->operands = {operand};
    ASSIGN_OR_RETURN(node, finish(sign));
  } else {
    ASSIGN_OR_RETURN(node, parse_primary());
  }
  ASSIGN_OR_RETURN(node, parse_postfix(node));
  if (is_op("**")) return unsupported("the operator '**'");
  if (with_filters) return parse_filters(node);
  return node;
}

Result<const Expr*> Parser::parse_primary() {
  const LexToken token = peek();
  switch (token.kind) {
    case TokenKind::kName:
      return parse_name();
    case TokenKind::kString: {
      Expr* node = program_->expr(ExprKind::kLiteral, token.line);
      std::string text;
      while (peek().kind == TokenKind::kString) text += tokens_[at_++].text;  // neighbours are one string
      node->literal = Value::text(text);
      return node;
    }
    case TokenKind::kInteger: {
      Expr* node = program_->expr(ExprKind::kLiteral, token.line);
      std::int64_t number = 0;
      const auto end = std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      if (end.ec != std::errc()) return fail("an integer beyond 64 bits");
      node->literal = Value::integer(number);
      ++at_;
      return node;
    }
    case TokenKind::kFloat: {
      Expr* node = program_->expr(ExprKind::kLiteral, token.line);
      double number = 0;
      const auto end = std::from_chars(token.text.data(), token.text.data() + token.text.size(), number);
      if (end.ec != std::errc()) return fail("a number out of range");
      node->literal = Value::real(number);
      ++at_;
      return node;
    }
    default:
      break;
  }
  if (is_op("[")) return parse_list();
  if (is_op("{")) return parse_dict();
  if (accept_op("(")) {
    if (accept_op(")")) return finish(program_->expr(ExprKind::kTuple, token.line));
    ASSIGN_OR_RETURN(const Expr* inner, parse_tuple_or_expr());
    RETURN_IF_ERROR(expect_op(")"));
    return inner;
  }
  return fail("expected an expression");
}

Result<const Expr*> Parser::parse_name() {
  const LexToken token = tokens_[at_++];
  const std::string& name = token.text;
  if (name == "true" || name == "True" || name == "false" || name == "False") {
    Expr* node = program_->expr(ExprKind::kLiteral, token.line);
    node->literal = Value::boolean(name == "true" || name == "True");
    return node;
  }
  if (name == "none" || name == "None") {
    Expr* node = program_->expr(ExprKind::kLiteral, token.line);
    node->literal = Value::none();
    return node;
  }
  if (name == "and" || name == "or" || name == "not" || name == "in" || name == "is" || name == "if" ||
      name == "else") {
    --at_;
    return fail("expected an expression, found '" + name + "'");
  }
  Expr* node = program_->expr(ExprKind::kName, token.line);
  node->name = name;
  if (name == "tools") program_->reads_tools = true;
  return node;
}

Result<const Expr*> Parser::parse_list() {
  Expr* list = program_->expr(ExprKind::kList, peek().line);
  ++at_;
  while (!is_op("]")) {
    if (!list->operands.empty()) RETURN_IF_ERROR(expect_op(","));
    if (is_op("]")) break;
    ASSIGN_OR_RETURN(const Expr* item, parse_expr());
    list->operands.push_back(item);
  }
  ++at_;
  return finish(list);
}

Result<const Expr*> Parser::parse_dict() {
  Expr* dict = program_->expr(ExprKind::kDict, peek().line);
  ++at_;
  while (!is_op("}")) {
    if (!dict->operands.empty()) RETURN_IF_ERROR(expect_op(","));
    if (is_op("}")) break;
    ASSIGN_OR_RETURN(const Expr* key, parse_expr());
    RETURN_IF_ERROR(expect_op(":"));
    ASSIGN_OR_RETURN(const Expr* value, parse_expr());
    dict->operands.push_back(key);
    dict->operands.push_back(value);
  }
  ++at_;
  return finish(dict);
}

Result<const Expr*> Parser::parse_postfix(const Expr* node) {
  while (true) {
    if (is_op(".")) {
      ASSIGN_OR_RETURN(node, parse_attribute(node));
    } else if (is_op("[")) {
      ASSIGN_OR_RETURN(node, parse_subscript(node));
    } else if (is_op("(")) {
      ASSIGN_OR_RETURN(node, parse_call(node));
    } else {
      return node;
    }
  }
}

Result<const Expr*> Parser::parse_attribute(const Expr* node) {
  const std::uint32_t line = peek().line;
  ++at_;
  if (peek().kind == TokenKind::kInteger) {
    ASSIGN_OR_RETURN(const Expr* key, parse_primary());
    Expr* item = program_->expr(ExprKind::kItem, line);
    item->operands = {node, key};
    return finish(item);
  }
  Expr* attribute = program_->expr(ExprKind::kAttribute, line);
  ASSIGN_OR_RETURN(attribute->name, expect_identifier());
  attribute->operands = {node};
  if (node->kind == ExprKind::kName && node->name == "loop" &&
      std::find(kLoopAttributes.begin(), kLoopAttributes.end(), std::string_view(attribute->name)) ==
          kLoopAttributes.end()) {
    return unsupported("'loop." + attribute->name.substr(0, 64) + "'");
  }
  return finish(attribute);
}

Result<const Expr*> Parser::parse_subscript(const Expr* node) {
  const std::uint32_t line = peek().line;
  ++at_;
  std::vector<const Expr*> parts(1, nullptr);
  bool slice = false;
  while (!is_op("]")) {
    if (accept_op(":")) {
      slice = true;
      parts.push_back(nullptr);
      continue;
    }
    if (parts.back() != nullptr) return is_op(",") ? unsupported("a subscript with a comma") : fail("expected ']'");
    ASSIGN_OR_RETURN(parts.back(), parse_expr());
  }
  ++at_;
  if (parts.size() > 3 || (!slice && parts[0] == nullptr)) return fail("a broken subscript");
  Expr* item = program_->expr(slice ? ExprKind::kSlice : ExprKind::kItem, line);
  item->operands = {node};
  if (slice) parts.resize(3, nullptr);
  item->operands.insert(item->operands.end(), parts.begin(), parts.end());
  return finish(item);
}

Result<const Expr*> Parser::parse_call(const Expr* node) {
  if (node->kind == ExprKind::kAttribute) {
    Expr* call = program_->expr(ExprKind::kMethodCall, node->line);
    call->name = node->name;
    call->operands = node->operands;
    call->method = find_method(node->name);
    if (call->method == nullptr) return unsupported("the method " + quoted(node->name));
    RETURN_IF_ERROR(parse_args(*call));
    return finish(call);
  }
  if (node->kind != ExprKind::kName) return unsupported("calling the result of an expression");
  if (!callable_.contains(node->name)) return unsupported("the function " + quoted(node->name));
  Expr* call = program_->expr(ExprKind::kCall, node->line);
  call->name = node->name;
  call->operands = {node};
  RETURN_IF_ERROR(parse_args(*call));
  return finish(call);
}

Status Parser::parse_args(Expr& call) {
  RETURN_IF_ERROR(expect_op("("));
  bool first = true;
  while (!is_op(")")) {
    if (!first) RETURN_IF_ERROR(expect_op(","));
    first = false;
    if (is_op(")")) break;
    if (is_op("*") || is_op("**")) return unsupported("a call with * or ** arguments");
    if (peek().kind == TokenKind::kName && is_op("=", 1)) {
      std::string name = peek().text;
      at_ += 2;
      ASSIGN_OR_RETURN(const Expr* value, parse_expr());
      call.named_args.emplace_back(std::move(name), value);
      continue;
    }
    if (!call.named_args.empty()) return fail("a positional argument follows a named one");
    ASSIGN_OR_RETURN(const Expr* value, parse_expr());
    call.args.push_back(value);
  }
  ++at_;
  return {};
}

Result<const Expr*> Parser::parse_filters(const Expr* node, bool tests) {
  while (true) {
    if (accept_op("|")) {
      ASSIGN_OR_RETURN(node, parse_filter(node));
    } else if (tests && is_name("is")) {
      ASSIGN_OR_RETURN(node, parse_test(node));
    } else if (tests && is_op("(")) {
      return unsupported("calling the result of a filter");
    } else {
      return node;
    }
  }
}

Result<const Expr*> Parser::parse_filter(const Expr* node) {
  Expr* filter = program_->expr(ExprKind::kFilter, peek().line);
  ASSIGN_OR_RETURN(filter->name, expect_identifier());
  filter->filter = find_filter(filter->name);
  if (filter->filter == nullptr) {
    --at_;
    return unsupported("the filter " + quoted(filter->name));
  }
  filter->operands = {node};
  if (is_op("(")) RETURN_IF_ERROR(parse_args(*filter));
  return finish(filter);
}

Result<const Expr*> Parser::parse_test(const Expr* node) {
  ++at_;
  const bool negated = accept_name("not");
  Expr* test = program_->expr(ExprKind::kTest, peek().line);
  ASSIGN_OR_RETURN(test->name, expect_identifier());
  test->test = find_test(test->name);
  if (test->test == nullptr) {
    --at_;
    return unsupported("the test " + quoted(test->name));
  }
  test->operands = {node};
  const TokenKind next = peek().kind;
  const bool begins_value = next == TokenKind::kString || next == TokenKind::kInteger || next == TokenKind::kFloat ||
                            next == TokenKind::kName || is_op("[") || is_op("{");
  const bool keyword = is_name("else") || is_name("or") || is_name("and") || is_name("if") || is_name("in") ||
                       is_name("not");
  if (is_op("(")) {
    RETURN_IF_ERROR(parse_args(*test));
  } else if (is_name("is")) {
    return fail("two tests cannot be chained with 'is'");
  } else if (begins_value && !keyword) {
    ASSIGN_OR_RETURN(const Expr* arg, parse_primary());
    ASSIGN_OR_RETURN(arg, parse_postfix(arg));
    test->args.push_back(arg);
  }
  ASSIGN_OR_RETURN(const Expr* done, finish(test));
  if (!negated) return done;
  Expr* inverse = program_->expr(ExprKind::kNot, test->line);
  inverse->operands = {done};
  return finish(inverse);
}

}  // namespace larder::chat_template
