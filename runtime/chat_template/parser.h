// SPDX-License-Identifier: Apache-2.0
// Parser: tokens to a Program. A construct, filter, test, method or function outside the subset is refused here, by
// name and line, before any request is rendered.
// Errors:  kInvalidArgument (syntax, nesting), kUnsupported (outside the subset).    Threads: one parser, one thread.
// Source:  grammar of the Jinja 3.1 documentation ("Expressions", "List of Control Structures").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/chat_template/ast.h"
#include "runtime/chat_template/lexer.h"

namespace larder::chat_template {

inline constexpr std::uint32_t kMaxExprHeight = 200;
inline constexpr std::uint32_t kMaxBlockDepth = 64;

class Parser {
 public:
  static Result<std::unique_ptr<const Program>> parse(std::string_view source);

 private:
  explicit Parser(std::vector<LexToken> tokens) : tokens_(std::move(tokens)), program_(std::make_unique<Program>()) {}

  // parser.cc: statements. A body ends before a block tag whose name is one of `ends`.
  Result<Body> parse_body(const std::vector<std::string_view>& ends);
  Result<const Stmt*> parse_block();
  Result<const Stmt*> parse_for();
  Result<const Stmt*> parse_if();
  Result<const Stmt*> parse_set();
  Result<const Stmt*> parse_macro();
  Result<const Stmt*> parse_call_block();
  Result<const Stmt*> parse_filter_block();
  Result<const Stmt*> parse_generation();
  Result<const Stmt*> parse_loop_control(StmtKind kind);
  Result<std::vector<Parameter>> parse_parameters();
  Result<std::vector<Target>> parse_targets(bool attributes);
  Status parse_end(std::string_view name, Body& body);
  void find_macros();

  // parser_expr.cc: expressions, loosest first.
  Result<const Expr*> parse_tuple_or_expr(bool with_conditional = true);
  Result<const Expr*> parse_expr(bool with_conditional = true);
  Result<const Expr*> parse_or();
  Result<const Expr*> parse_and();
  Result<const Expr*> parse_not();
  Result<const Expr*> parse_compare();
  Result<const Expr*> parse_sum();
  Result<const Expr*> parse_concat();
  Result<const Expr*> parse_product();
  Result<const Expr*> parse_unary(bool with_filters = true);
  Result<const Expr*> parse_primary();
  Result<const Expr*> parse_name();
  Result<const Expr*> parse_list();
  Result<const Expr*> parse_dict();
  Result<const Expr*> parse_postfix(const Expr* node);
  Result<const Expr*> parse_attribute(const Expr* node);
  Result<const Expr*> parse_subscript(const Expr* node);
  Result<const Expr*> parse_call(const Expr* node);
  Result<const Expr*> parse_filters(const Expr* node, bool tests = true);
  Result<const Expr*> parse_filter(const Expr* node);
  Result<const Expr*> parse_test(const Expr* node);
  Status parse_args(Expr& call);
  Result<const Expr*> finish(Expr* node);  // computes and bounds the height

  // The cursor.
  const LexToken& peek(std::size_t ahead = 0) const {
    const std::size_t at = at_ + ahead;
    return at < tokens_.size() ? tokens_[at] : tokens_.back();
  }
  bool is_op(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kOperator && peek(ahead).text == text;
  }
  bool is_name(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::kName && peek(ahead).text == text;
  }
  bool accept_op(std::string_view text);
  bool accept_name(std::string_view text);
  Status expect_op(std::string_view text);
  Status expect_name(std::string_view text);
  Status expect(TokenKind kind);
  Result<std::string> expect_identifier();
  Error fail(const std::string& message) const;
  Error unsupported(const std::string& construct) const;

  std::vector<LexToken> tokens_;
  std::size_t at_ = 0;
  std::unique_ptr<Program> program_;
  std::unordered_set<std::string> callable_;  // macros of this template and the globals
  std::uint32_t block_depth_ = 0;
  std::uint32_t expr_depth_ = 0;
  std::uint32_t loop_depth_ = 0;
};

}  // namespace larder::chat_template
