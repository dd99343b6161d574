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
FAMILIES = {
    "gpt-2": [GPT2],
    "smollm": [r"\p{N}", GPT2],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, r"[0-9][0-9][0-9]"],
    "llama-bpe": [SUFFIX + r"\p{N}{1,3}" + REST],
    "qwen2": [SUFFIX + r"\p{N}" + REST],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}"],
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
