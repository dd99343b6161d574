# SPDX-License-Identifier: Apache-2.0
"""Makes smollm2-golden.bin: 5,000 strings and what Hugging Face `tokenizers` makes of them with SmolLM2's vocabulary.

    python make_smollm2_golden.py SMOLLM2.gguf tests/data/tokenizer-vectors smollm2-golden.bin

Needs: tokenizers, gguf (PyPI). The result depends on nothing but the seed, the vocabulary and the texts beside it.
Record: u8 parse_special, u16 text bytes, text (UTF-8), u16 token count, u64 FNV-1a over the ids as little-endian u32.
"""
import json
import random
import struct
import sys
import unicodedata

import gguf
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

COUNT = 5000
SEED = 20240917
CONTROL_TYPE = 3
WORDS = ("casa cucina soggiorno perché città così l'acqua dell'anno un'altra quest'è accendi spegni Buongiorno!"
         " Straße größer naïve café don't I'll we've you're it's she'd I'M DON'T hello World README foo_bar camelCase"
         " HTTP/2 x86_64 0x1F 3.14159 1,234,567 2024-09-17 12:30 100% €5 $19.99 ½ ² Ⅷ ٣ ४ 日本語 漢字かな 한국어 русский"
         " ελληνικά"
         " עברית العربية हिन्दी ไทย 👍 👩‍🚀 🇮🇹 e\u0301 \u200b \ufeff -- == != :: <- => ... ''' \"\" {} [] #!/").split()
SPACES = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", " \n ",
          "\u00a0", "\u3000", "\u2028", "\u180e", "\u0085", ""]
MARKS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<file_sep>", "<|im_start",
         "im_end|>", "<|im_end|><|im_start|>"]


def load(path):
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(m.split(" ", 1)) for m in fields["tokenizer.ggml.merges"].contents()]
    types = fields["tokenizer.ggml.token_type"].contents()
    return tokens, merges, types


def make_tokenizer(tokens, merges, types, parse_special):
    tokenizer = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    if parse_special:
        special = [AddedToken(t, normalized=False, special=True) for t, k in zip(tokens, types) if k == CONTROL_TYPE]
        tokenizer.add_special_tokens(special)
    return tokenizer


def corpus(folder):
    text = open(f"{folder}/ggml-vocab-gpt-2.gguf.inp", encoding="utf-8", newline="").read()
    texts = [t for t in text.split("\n__ggml_vocab_test__\n") if t]
    for line in open(f"{folder}/extra-gpt-2.jsonl", encoding="utf-8"):
        texts.append(json.loads(line)["text"])
    return texts


def cut_from_corpus(rng, texts):
    text = rng.choice(texts) + rng.choice(SPACES) + rng.choice(texts)
    begin = rng.randrange(len(text))
    return text[begin:begin + rng.randint(1, 60)]


def words(rng, texts):
    del texts
    return "".join(rng.choice(WORDS) + rng.choice(SPACES) for _ in range(rng.randint(1, 10)))


def code_points(rng, texts):
    del texts
    out = []
    while len(out) < rng.randint(1, 14):
        top = rng.choice([0x80, 0x250, 0x600, 0x3000, 0x10000, 0x20000])
        c = chr(rng.randrange(top))
        if unicodedata.category(c) not in ("Cn", "Cs", "Co"):
            out.append(c)
    return "".join(out)


def digits_and_signs(rng, texts):
    del texts
    alphabet = "0123456789  .,:;!?'\"-+*/=<>()[]{}_#@&%$\n\tstmdrevl'S"
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(1, 40)))


def with_marks(rng, texts):
    before = rng.choice(["", words(rng, texts)])
    return before + rng.choice(MARKS) + cut_from_corpus(rng, texts) + rng.choice(MARKS + [""])


def fnv1a(ids):
    digest = 0xCBF29CE484222325
    for byte in b"".join(struct.pack("<I", i) for i in ids):
        digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return digest


def main(model, folder, output):
    vocabulary = load(model)
    tokenizers = [make_tokenizer(*vocabulary, parse_special=p) for p in (False, True)]
    texts = corpus(folder)
    rng = random.Random(SEED)
    makers = [cut_from_corpus, words, code_points, digits_and_signs, with_marks]
    with open(output, "wb") as out:
        for i in range(COUNT):
            text = makers[i % len(makers)](rng, texts)
            special = makers[i % len(makers)] is with_marks and rng.random() < 0.5
            ids = tokenizers[special].encode(text, add_special_tokens=False).ids
            data = text.encode("utf-8")
            out.write(struct.pack("<BH", special, len(data)) + data + struct.pack("<HQ", len(ids), fnv1a(ids)))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
