# SPDX-License-Identifier: Apache-2.0
"""Makes pre-tokenizer-golden.jsonl: how Hugging Face's regular expressions (Oniguruma) cut texts, per model family.

    python make_pre_tokenizer_golden.py tests/data/tokenizer-vectors pre-tokenizer-golden.jsonl

Needs: tokenizers (PyPI), gguf (by the sibling script). A line: {"text", "splits": {family: [bytes of each piece]}}.
"""
import json
import random
import sys

from tokenizers import Regex, pre_tokenizers

import make_smollm2_golden as strings

GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
SUFFIX = r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"""
REST = r"""| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
CHINESE_AND_KOREAN = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
CASED = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
    "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    "\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb"
    "\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128"
    "\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4"
    "\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf"
    "\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943")
SMALL_WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
CAPITAL_WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
FAMILIES = {
    "gpt-2": [GPT2],
    "smollm": [r"\p{N}", GPT2],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, r"[0-9][0-9][0-9]"],
    "llama-bpe": [SUFFIX + r"\p{N}{1,3}" + REST],
    "qwen2": [SUFFIX + r"\p{N}" + REST],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CHINESE_AND_KOREAN, r"\p{N}"],
    "deepseek-llm": [r"[\r\n]", r"\s?[" + CASED + "]+",
                     "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
                     r"\s+$", CHINESE_AND_KOREAN, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
                    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
                    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""],
    "tekken": [SMALL_WORD + "|" + CAPITAL_WORD + r"|\p{N}" + SIGNS],
    "gpt-4o": [SMALL_WORD + ENDING + "|" + CAPITAL_WORD + ENDING + r"|\p{N}{1,3}" + SIGNS],
}
COUNT = 400
SEED = 5


def main(folder, output):
    splitters = {name: pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(e), "isolated") for e in expressions])
                 for name, expressions in FAMILIES.items()}
    texts = strings.corpus(folder)
    rng = random.Random(SEED)
    makers = [strings.cut_from_corpus, strings.words, strings.code_points, strings.digits_and_signs]
    with open(output, "w", encoding="utf-8") as out:
        for i in range(COUNT):
            text = makers[i % len(makers)](rng, texts)
            splits = {name: [len(piece.encode("utf-8")) for piece, _ in splitter.pre_tokenize_str(text)]
                      for name, splitter in splitters.items()}
            out.write(json.dumps({"text": text, "splits": splits}, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
