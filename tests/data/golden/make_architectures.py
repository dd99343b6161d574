# SPDX-License-Identifier: Apache-2.0
"""Makes architectures/NAME.gguf, tiny random models, and NAME.jsonl, what transformers computes from them in float32.

Needs: pip install torch transformers gguf (seen with torch 2.15, transformers 5.24, gguf 0.19).
Use:   python make_architectures.py architectures

The models are made from transformers configurations. Weights are drawn from a fixed seed and rounded to the type that
they have in the file before transformers computes with them, so both sides hold the same weights. Names, keys and
layouts in the file are those of llama.cpp's convert_hf_to_gguf.py: q and k of llama and smollm3 permuted, the 1 of
gemma3's norms added. The lines of a .jsonl are as make_smollm2.py writes them, without `top`.
"""
import json
import math
import os
import re
import sys

import gguf
import numpy
import torch
import transformers

from make_smollm2 import encode_logits

VOCAB = 512
CONTEXT = 512
HEADS = 4
KV_HEADS = 2
HEAD_DIM = 16
PROMPTS = {"short": 24, "long": 300}  # tokens; every local window is shorter than the second
LOGITS_AFTER = {"short": [0, -1], "long": [31, 32, 70, 150, 270, -1]}
LONG_FACTORS = [1.0, 1.3, 2.1, 3.7, 6.5, 11.0]
SHORT_FACTORS = [1.0, 1.0, 1.05, 1.1, 1.2, 1.4]
LLAMA3_ROPE = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
               "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
PHI3_ORIGINAL = 16


def common(**more):
    sizes = {"vocab_size": VOCAB, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4,
             "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM,
             "max_position_embeddings": CONTEXT, "rms_norm_eps": 1e-5, "tie_word_embeddings": False,
             "attn_implementation": "eager", "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
             "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    return {**sizes, **more}


def llama():
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**common(rope_parameters=LLAMA3_ROPE)))


def smollm3():
    return transformers.SmolLM3ForCausalLM(transformers.SmolLM3Config(
        **common(no_rope_layer_interval=4, use_sliding_window=False, tie_word_embeddings=True)))


def qwen2():
    return transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**common(hidden_size=64, use_sliding_window=False)))


def qwen3():
    return transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**common(use_sliding_window=False)))


def phi3():
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, "long_factor": LONG_FACTORS, "short_factor": SHORT_FACTORS,
            "original_max_position_embeddings": PHI3_ORIGINAL, "partial_rotary_factor": 0.75}
    return transformers.Phi3ForCausalLM(transformers.Phi3Config(
        **common(hidden_size=64, rope_parameters=rope, partial_rotary_factor=0.75, sliding_window=50,
                 original_max_position_embeddings=PHI3_ORIGINAL)))


def gemma3():
    rope = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
    return transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(
        **common(num_hidden_layers=7, rope_parameters=rope, sliding_window=40, query_pre_attn_scalar=HEAD_DIM,
                 tie_word_embeddings=True)))


MODELS = [llama, smollm3, qwen2, qwen3, phi3, gemma3]

NAMES = [
    (r"model\.embed_tokens\.", "token_embd."),
    (r"model\.norm\.", "output_norm."),
    (r"lm_head\.", "output."),
    (r"model\.layers\.(\d+)\.", r"blk.\1."),
    (r"input_layernorm", "attn_norm"),
    (r"self_attn\.([qkv])_proj", r"attn_\1"),
    (r"self_attn\.([qk])_norm", r"attn_\1_norm"),
    (r"self_attn\.qkv_proj", "attn_qkv"),
    (r"self_attn\.o_proj", "attn_output"),
    (r"mlp\.(gate|up|down)_proj", r"ffn_\1"),
    (r"mlp\.gate_up_proj", "ffn_up"),
    (r"pre_feedforward_layernorm", "ffn_norm"),
    (r"post_feedforward_layernorm", "post_ffw_norm"),
]


def file_name(name, arch):
    for pattern, becomes in NAMES:
        name = re.sub(pattern, becomes, name)
    return name.replace("post_attention_layernorm", "post_attention_norm" if arch == "gemma3" else "ffn_norm")


def draw(rng, name, shape):
    """A value of the file: matrices so that sums are near 1 and attention is not even, norms around 1."""
    if len(shape) == 1 and name.endswith(".bias"):
        return rng.normal(0, 0.5, shape).astype("f4")
    if len(shape) == 1:
        return rng.uniform(0.5, 1.8, shape).astype("f4")
    spread = 1.0 if "embd" in name else (1.6 if re.search("attn_(q|k|qkv)", name) else 1.0) / math.sqrt(shape[1])
    return rng.normal(0, spread, shape).astype("f4")


def permuted(values, heads):
    """As conversion does with q and k of llama models: halves of a head become neighbours."""
    return values.reshape(heads, 2, HEAD_DIM // 2, -1).swapaxes(1, 2).reshape(values.shape)


def rounded(values, kind):
    coded = gguf.quants.quantize(values, kind)
    return coded, gguf.quants.dequantize(coded, kind).astype("f4")


def fill(model, arch, writer, rng):
    tied = model.config.tie_word_embeddings
    for name, parameter in model.state_dict().items():
        target = file_name(name, arch)
        if tied and target == "output.weight":
            continue
        values = draw(rng, target, tuple(parameter.shape))
        if values.ndim == 1:
            less = 1.0 if arch == "gemma3" else 0.0
            held = (values - less).astype("f4")
            writer.add_tensor(target, (held + numpy.float32(less)).astype("f4"))
        else:
            kind = gguf.GGMLQuantizationType.Q8_0 if arch == "phi3" else gguf.GGMLQuantizationType.F16
            _, held = rounded(values, kind)
            stored = held
            if arch in ("llama", "smollm3") and re.search(r"attn_[qk]\.weight", target):
                stored = permuted(held, HEADS if "attn_q" in target else KV_HEADS)
            coded, _ = rounded(stored, kind)
            writer.add_tensor(target, coded, raw_dtype=kind)
        parameter.copy_(torch.from_numpy(held.copy()))


def llama3_divisors():
    rope = LLAMA3_ROPE
    divisors = []
    for pair in range(HEAD_DIM // 2):
        length = 2 * math.pi * rope["rope_theta"] ** (2 * pair / HEAD_DIM)
        turns = rope["original_max_position_embeddings"] / length
        smooth = (turns - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
        smooth = min(max(smooth, 0.0), 1.0)
        divisors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return numpy.array(divisors, "f4")


def describe(config, arch, writer):
    count, number = writer.add_uint32, writer.add_float32
    for key, value in {"context_length": CONTEXT, "embedding_length": config.hidden_size,
                       "block_count": config.num_hidden_layers, "feed_forward_length": config.intermediate_size,
                       "attention.head_count": HEADS, "attention.head_count_kv": KV_HEADS, "vocab_size": VOCAB,
                       "attention.key_length": HEAD_DIM, "attention.value_length": HEAD_DIM}.items():
        count(f"{arch}.{key}", value)
    number(f"{arch}.attention.layer_norm_rms_epsilon", 1e-5)
    number(f"{arch}.rope.freq_base", 1000000.0 if arch == "gemma3" else 10000.0)
    if arch == "llama":
        writer.add_tensor("rope_freqs.weight", llama3_divisors())
    if arch == "phi3":
        count("phi3.rope.dimension_count", HEAD_DIM * 3 // 4)
        count("phi3.rope.scaling.original_context_length", PHI3_ORIGINAL)
        count("phi3.attention.sliding_window", 50)
        further = math.log(CONTEXT / PHI3_ORIGINAL) / math.log(PHI3_ORIGINAL)
        number("phi3.rope.scaling.attn_factor", math.sqrt(1 + further))
        writer.add_tensor("rope_factors_long.weight", numpy.array(LONG_FACTORS, "f4"))
        writer.add_tensor("rope_factors_short.weight", numpy.array(SHORT_FACTORS, "f4"))
    if arch == "gemma3":
        count("gemma3.attention.sliding_window", 40)
        writer.add_string("gemma3.rope.scaling.type", "linear")
        number("gemma3.rope.scaling.factor", 8.0)


def golden(name, ids, logits):
    two = torch.topk(torch.log_softmax(logits, dim=-1), 2, dim=-1)
    line = {"name": name, "tokens": ids, "top1": [], "top": [], "logits": []}
    for at in range(len(ids)):
        line["top1"].append([int(two.indices[at, 0]), round(float(two.values[at, 0] - two.values[at, 1]), 5)])
    for at in LOGITS_AFTER[name]:
        line["logits"].append(encode_logits(logits[at].numpy(), at % len(ids), 1))
    return line


def main(folder):
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(2)
    for make in MODELS:
        arch = make.__name__
        rng = numpy.random.default_rng(20261201)
        writer = gguf.GGUFWriter(os.path.join(folder, f"{arch}.gguf"), arch)
        with torch.no_grad():
            model = make().to(torch.float32).eval()
            describe(model.config, arch, writer)
            fill(model, arch, writer, rng)
            with open(os.path.join(folder, f"{arch}.jsonl"), "w", encoding="utf-8") as lines:
                for name, length in PROMPTS.items():
                    ids = rng.integers(0, VOCAB, length).tolist()
                    logits = model(torch.tensor([ids])).logits[0].to(torch.float32)
                    assert numpy.isfinite(logits.numpy()).all()
                    lines.write(json.dumps(golden(name, ids, logits), separators=(",", ":")) + "\n")
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        print(arch, {end: os.path.getsize(os.path.join(folder, f"{arch}.{end}")) for end in ("gguf", "jsonl")})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
