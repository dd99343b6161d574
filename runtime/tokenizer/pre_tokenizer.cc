// SPDX-License-Identifier: Apache-2.0
#include "runtime/tokenizer/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <span>
#include <string>
#include <utility>

#include "runtime/tokenizer/utf8_stream.h"

namespace larder::tokenizer {
namespace {

#define LARDER_GPT2_SPLIT R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
#define LARDER_ANY_CASE_SUFFIX R"('[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
#define LARDER_WORDS_AND_LINES R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"

constexpr const char* kGpt2[] = {LARDER_GPT2_SPLIT};
constexpr const char* kSingleDigits[] = {R"(\p{N})", LARDER_GPT2_SPLIT};
constexpr const char* kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", LARDER_GPT2_SPLIT, R"([0-9][0-9][0-9])"};
constexpr const char* kLlama3[] = {LARDER_ANY_CASE_SUFFIX
                                   R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})" LARDER_WORDS_AND_LINES};
constexpr const char* kQwen2[] = {LARDER_ANY_CASE_SUFFIX R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})" LARDER_WORDS_AND_LINES};
constexpr const char* kDeepseekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                          R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N})"};

struct Family {
  std::string_view name;
  std::span<const char* const> expressions;
  bool ignore_merges;
};

constexpr Family kFamilies[] = {
    {"gpt-2", kGpt2, false},
    {"phi-2", kGpt2, false},
    {"mpt", kGpt2, false},
    {"olmo", kGpt2, false},
    {"smollm", kSingleDigits, false},
    {"starcoder", kSingleDigits, false},
    {"refact", kSingleDigits, false},
    {"command-r", kSingleDigits, false},
    {"falcon", kFalcon, false},
    {"llama-bpe", kLlama3, true},
    {"llama3", kLlama3, true},
    {"qwen2", kQwen2, false},
    {"deepseek-r1-qwen", kQwen2, false},
    {"deepseek-coder", kDeepseekCoder, false},
};

// PCRE2's own \s also takes U+180E, which the engines these expressions were written for do not; so \s is spelled out
// as the Unicode property White_Space.
std::string with_unicode_space(std::string_view expression) {
  constexpr std::string_view kSpace = R"(\t-\r\x{85}\p{Z})";
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    if (c == '\\' && i + 1 < expression.size()) {
      const char next = expression[++i];
      if (next == 's' && in_class) {
        out += kSpace;
      } else if (next == 's' || next == 'S') {
        out += (next == 's' ? "[" : "[^") + std::string(kSpace) + "]";
      } else {
        out += {c, next};
      }
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

std::string known_names() {
  std::string names;
  for (const Family& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

}  // namespace

class PreTokenizer::Expression {
 public:
  explicit Expression(const char* source) {
    const std::string text = with_unicode_space(source);
    int error = 0;
    PCRE2_SIZE error_at = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF | PCRE2_UCP, &error,
                          &error_at, nullptr);
    INVARIANT(code_ != nullptr);
    // Where the system forbids code made at run time, the interpreter answers the same, slower.
    pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
  }
  ~Expression() { pcre2_code_free(code_); }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  // Appends the pieces of text[within]; they must be well-formed UTF-8.
  Status split(std::string_view text, Piece within, pcre2_match_data* match, std::vector<Piece>& out) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data() + within.begin);
    const std::size_t length = within.end - within.begin;
    std::size_t at = 0;
    while (at < length) {
      const int found = pcre2_match(code_, subject, length, at, PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, match, nullptr);
      if (found == PCRE2_ERROR_NOMATCH) break;
      if (found < 0) {
        return Error{ErrorCode::kInternal,
                     "the pre-tokenizer gave up with PCRE2 error " + std::to_string(found) + " on a text of " +
                         std::to_string(length) + " bytes; shorten it",
                     ""};
      }
      const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match);
      append(within, at, place[0], out);
      append(within, place[0], place[1], out);
      at = place[1];
    }
    append(within, at, length, out);
    return {};
  }

 private:
  static void append(Piece within, std::size_t begin, std::size_t end, std::vector<Piece>& out) {
    if (begin == end) return;
    out.push_back({within.begin + static_cast<std::uint32_t>(begin), within.begin + static_cast<std::uint32_t>(end)});
  }

  pcre2_code* code_;
};

PreTokenizer::PreTokenizer() = default;
PreTokenizer::~PreTokenizer() = default;

Result<std::unique_ptr<const PreTokenizer>> PreTokenizer::create(std::string_view pre) {
  for (const Family& family : kFamilies) {
    if (family.name != pre) continue;
    std::unique_ptr<PreTokenizer> made(new PreTokenizer());
    for (const char* source : family.expressions) made->expressions_.push_back(std::make_unique<Expression>(source));
    made->ignore_merges_ = family.ignore_merges;
    return std::unique_ptr<const PreTokenizer>(std::move(made));
  }
  const std::string shown = pre.empty() ? "none" : "'" + std::string(pre.substr(0, 64)) + "'";
  return Error{ErrorCode::kUnsupported,
               "the pre-tokenizer (tokenizer.ggml.pre) is " + shown + "; known are " + known_names(), ""};
}

namespace {

// Cuts into runs of well-formed and of ill-formed bytes. Answers in `well_formed` which kind the first run is; the
// kinds alternate.
bool cut_ill_formed(std::string_view text, std::vector<Piece>& runs) {
  bool first_kind = true;
  bool kind = true;
  std::uint32_t begin = 0;
  std::uint32_t at = 0;
  while (at < text.size()) {
    const Utf8Unit unit = next_utf8_unit(text.substr(at));
    if (at == 0) first_kind = kind = unit.complete;
    if (unit.complete != kind) {
      runs.push_back({begin, at});
      begin = at;
      kind = unit.complete;
    }
    at += static_cast<std::uint32_t>(unit.bytes);
  }
  if (begin < at) runs.push_back({begin, at});
  return first_kind;
}

}  // namespace

Status PreTokenizer::split(std::string_view text, std::vector<Piece>& pieces) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
  if (match == nullptr) return Error{ErrorCode::kResourceExhausted, "no memory for the pre-tokenizer", ""};
  std::vector<Piece> runs;
  bool well_formed = cut_ill_formed(text, runs);
  std::vector<Piece> now;
  std::vector<Piece> next;
  for (const Piece run : runs) {
    now.assign(1, run);
    if (well_formed) {
      for (const auto& expression : expressions_) {
        next.clear();
        for (const Piece piece : now) RETURN_IF_ERROR(expression->split(text, piece, match.get(), next));
        now.swap(next);
      }
    }
    pieces.insert(pieces.end(), now.begin(), now.end());
    well_formed = !well_formed;
  }
  return {};
}

}  // namespace larder::tokenizer
