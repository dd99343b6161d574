# SPDX-License-Identifier: Apache-2.0
"""Writes a GGUF file of random weights in the shape of a known model: for speed, never for text.

Use:   python make_model.py SHAPE TYPE OUT.gguf      (needs numpy)
SHAPE: llama-1b (Llama 3.2 1B), qwen-0.5b (Qwen 2.5 0.5B without its biases, as architecture llama), tiny
TYPE:  Q4_0, Q4_K_M, Q8_0, BF16

Q4_K_M mixes as llama.cpp's quantiser does: Q4_K, and Q6_K for the head and for attn_v and ffn_down of the first and
last eighth of the layers and every third between; a matrix whose rows are no multiple of 256 takes Q5_0 and Q8_0.
The file has no vocabulary (tokenizer.ggml.model = no_vocab), which llama.cpp loads too.
"""
import argparse
import struct

import numpy

# Hidden size, layers, feed-forward size, heads, KV heads, head size, vocabulary, RoPE base.
SHAPES = {
    "llama-1b": (2048, 16, 8192, 32, 8, 64, 128256, 500000.0),
    "qwen-0.5b": (896, 24, 4864, 14, 2, 64, 151936, 1000000.0),
    "tiny": (256, 2, 512, 4, 2, 64, 512, 10000.0),
}
# Id, values and bytes of a block, and where its f16 scales lie with their size for weights of about 0.02.
TYPES = {
    "F32": (0, 1, 4, ()),
    "Q4_0": (2, 32, 18, ((0, 0.004),)),
    "Q5_0": (6, 32, 22, ((0, 0.002),)),
    "Q8_0": (8, 32, 34, ((0, 0.00025),)),
    "Q4_K": (12, 256, 144, ((0, 0.00012), (2, 0.0009))),
    "Q6_K": (14, 256, 210, ((208, 0.0000125),)),
    "BF16": (30, 1, 2, ()),
}
ROWS_AT_ONCE = 4096


def random_matrix(rng, kind, rows, cols):
    _, values, size, scales = TYPES[kind]
    if kind == "BF16":
        weights = rng.standard_normal(rows * cols, dtype=numpy.float32) * numpy.float32(0.02)
        return (weights.view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
    blocks = rng.integers(0, 256, (rows * cols // values, size), dtype=numpy.uint8)
    for at, scale in scales:
        blocks[:, at:at + 2] = numpy.frombuffer(numpy.float16(scale).tobytes(), dtype=numpy.uint8)
    return blocks.tobytes()


def more_bits(layer, layers):
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def kind_of(wanted, name, layer, layers, cols):
    if wanted != "Q4_K_M":
        return wanted
    high = name == "token_embd" or (name in ("attn_v", "ffn_down") and more_bits(layer, layers))
    if cols % 256 != 0:
        return "Q8_0" if high else "Q5_0"
    return "Q6_K" if high else "Q4_K"


def tensors_of(shape, wanted):
    """(name, kind, rows, cols) of all tensors; rows 0: a vector."""
    embd, layers, ff, heads, kv_heads, head, vocab, _ = shape
    yield "token_embd.weight", kind_of(wanted, "token_embd", 0, layers, embd), vocab, embd
    for layer in range(layers):
        for name, rows, cols in (("attn_q", heads * head, embd), ("attn_k", kv_heads * head, embd),
                                 ("attn_v", kv_heads * head, embd), ("attn_output", embd, heads * head),
                                 ("ffn_gate", ff, embd), ("ffn_up", ff, embd), ("ffn_down", embd, ff)):
            yield f"blk.{layer}.{name}.weight", kind_of(wanted, name, layer, layers, cols), rows, cols
        for name in ("attn_norm", "ffn_norm"):
            yield f"blk.{layer}.{name}.weight", "F32", 0, embd
    yield "output_norm.weight", "F32", 0, embd


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entries_of(shape, name):
    embd, layers, ff, heads, kv_heads, head, vocab, base = shape
    yield string("general.architecture") + struct.pack("<I", 8) + string("llama")
    yield string("general.name") + struct.pack("<I", 8) + string(name)
    yield string("tokenizer.ggml.model") + struct.pack("<I", 8) + string("no_vocab")
    for key, value in (("vocab_size", vocab), ("context_length", 8192), ("embedding_length", embd),
                       ("block_count", layers), ("feed_forward_length", ff), ("attention.head_count", heads),
                       ("attention.head_count_kv", kv_heads), ("attention.key_length", head),
                       ("attention.value_length", head), ("rope.dimension_count", head)):
        yield string("llama." + key) + struct.pack("<II", 4, value)
    for key, value in (("attention.layer_norm_rms_epsilon", 1e-5), ("rope.freq_base", base)):
        yield string("llama." + key) + struct.pack("<If", 6, value)


def bytes_of(kind, rows, cols):
    _, values, size, _ = TYPES[kind]
    return max(rows, 1) * cols // values * size


def pad(size):
    return (size + 31) // 32 * 32


def write(path, shape_name, wanted):
    shape = SHAPES[shape_name]
    tensors = list(tensors_of(shape, wanted))
    entries = list(entries_of(shape, f"random {shape_name} {wanted}"))
    rng = numpy.random.default_rng(20261201)
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries))
        offset = 0
        for name, kind, rows, cols in tensors:
            dims = (cols, rows) if rows else (cols,)
            out.write(string(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims) +
                      struct.pack("<IQ", TYPES[kind][0], offset))
            offset += pad(bytes_of(kind, rows, cols))
        out.write(bytes(pad(out.tell()) - out.tell()))
        for _, kind, rows, cols in tensors:
            if rows == 0:
                out.write(numpy.ones(cols, dtype=numpy.float32).tobytes())
            for row in range(0, rows, ROWS_AT_ONCE):
                out.write(random_matrix(rng, kind, min(ROWS_AT_ONCE, rows - row), cols))
            size = bytes_of(kind, rows, cols)
            out.write(bytes(pad(size) - size))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("type", choices=("Q4_0", "Q4_K_M", "Q8_0", "BF16"))
    parser.add_argument("out")
    args = parser.parse_args()
    write(args.out, args.shape, args.type)


if __name__ == "__main__":
    main()
