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

// The letters that DeepSeek's first vocabulary takes as words: the cased ones of an older Unicode, less a few.
// Source: tokenizer.json of deepseek-ai/deepseek-llm-7b-base.
#define LARDER_CASED_LETTERS \
  R"(A-Za-z\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF})" \
  R"(\x{370}-\x{373}\x{376}\x{377}\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1})" \
  R"(\x{3A3}-\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-\x{13F5})" \
  R"(\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A})" \
  R"(\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B})" \
  R"(\x{1F5D}\x{1F5F}-\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-\x{1FCC})" \
  R"(\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}\x{1FF6}-\x{1FFC}\x{2102}\x{2107})" \
  R"(\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134})" \
  R"(\x{2139}\x{213C}-\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-\x{2CE4})" \
  R"(\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}\x{A722}-\x{A76F}\x{A771}-\x{A787})" \
  R"(\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A})" \
  R"(\x{10400}-\x{1044F}\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2})" \
  R"(\x{118A0}-\x{118DF}\x{1E900}-\x{1E943})"

#define LARDER_ANY_LETTER_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LARDER_ANY_LETTER_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define LARDER_SIGNS_AND_LINES R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"
// A word begins with at most one sign; capitals, then small letters: "McDonald" is two.
#define LARDER_SMALL_WORD R"([^\r\n\p{L}\p{N}]?)" LARDER_ANY_LETTER_UPPER "*" LARDER_ANY_LETTER_LOWER "+"
#define LARDER_CAPITAL_WORD R"([^\r\n\p{L}\p{N}]?)" LARDER_ANY_LETTER_UPPER "+" LARDER_ANY_LETTER_LOWER "*"

constexpr const char* kGpt2[] = {LARDER_GPT2_SPLIT};
constexpr const char* kSingleDigits[] = {R"(\p{N})", LARDER_GPT2_SPLIT};
constexpr const char* kFalcon[] = {R"([\p{P}\$\+<=>\^~\|`]+)", LARDER_GPT2_SPLIT, R"([0-9][0-9][0-9])"};
constexpr const char* kLlama3[] = {LARDER_ANY_CASE_SUFFIX
                                   R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})" LARDER_WORDS_AND_LINES};
constexpr const char* kQwen2[] = {LARDER_ANY_CASE_SUFFIX R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})" LARDER_WORDS_AND_LINES};
constexpr const char* kDeepseekCoder[] = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                                          R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", R"(\p{N})"};
constexpr const char* kDeepseekLlm[] = {
    R"([\r\n])",
    R"(\s?[)" LARDER_CASED_LETTERS R"(]+)",
    R"(\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+)",
    R"(\s+$)",
    R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)",
    R"(\p{N})"};
constexpr const char* kDeepseekV3[] = {
    R"(\p{N}{1,3})", R"([\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+)",
    (R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
     R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)")};
constexpr const char* kTekken[] = {LARDER_SMALL_WORD "|" LARDER_CAPITAL_WORD R"(|\p{N})" LARDER_SIGNS_AND_LINES};
constexpr const char* kGpt4o[] = {LARDER_SMALL_WORD "(?:" LARDER_ANY_CASE_SUFFIX ")?|" LARDER_CAPITAL_WORD
                                  "(?:" LARDER_ANY_CASE_SUFFIX R"()?|\p{N}{1,3})" LARDER_SIGNS_AND_LINES};

struct Family {
  std::string_view name;
  std::span<const char* const> expressions;
  bool ignore_merges = false;
  bool begins_with_bos = false;
};

constexpr Family kFamilies[] = {
    {"gpt-2", kGpt2},
    {"phi-2", kGpt2},
    {"mpt", kGpt2},
    {"olmo", kGpt2},
    {"jais", kGpt2},
    {"smollm", kSingleDigits},
    {"starcoder", kSingleDigits},
    {"refact", kSingleDigits},
    {"command-r", kSingleDigits},
    {"codeshell", kSingleDigits},
    {"exaone", kSingleDigits},
    {"minerva-7b", kSingleDigits},
    {"falcon", kFalcon},
    {"llama-bpe", kLlama3, true, true},
    {"llama3", kLlama3, true, true},
    {"llama-v3", kLlama3, true, true},
    {"falcon3", kLlama3, true, true},
    {"pixtral", kLlama3, true, true},
    {"dbrx", kLlama3},
    {"smaug-bpe", kLlama3},
    {"glm4", kLlama3},
    {"qwen2", kQwen2},
    {"deepseek-r1-qwen", kQwen2},
    {"stablelm2", kQwen2},
    {"deepseek-coder", kDeepseekCoder},
    {"deepseek-llm", kDeepseekLlm},
    {"deepseek-v3", kDeepseekV3},
    {"tekken", kTekken, true, true},
    {"gpt-4o", kGpt4o},
    {"llama4", kGpt4o},
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

const Family* find_family(std::string_view pre) {
  for (const Family& family : kFamilies) {
    if (family.name == pre) return &family;
  }
  return nullptr;
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

bool begins_with_bos(std::string_view pre) {
  const Family* const family = find_family(pre);
  return family != nullptr && family->begins_with_bos;
}

PreTokenizer::PreTokenizer() = default;
PreTokenizer::~PreTokenizer() = default;

Result<std::unique_ptr<const PreTokenizer>> PreTokenizer::create(std::string_view pre) {
  if (const Family* const family = find_family(pre)) {
    std::unique_ptr<PreTokenizer> made(new PreTokenizer());
    for (const char* source : family->expressions) made->expressions_.push_back(std::make_unique<Expression>(source));
    made->ignore_merges_ = family->ignore_merges;
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
