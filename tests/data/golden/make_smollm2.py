# SPDX-License-Identifier: Apache-2.0
"""Makes smollm2.jsonl: what transformers computes in float32 from the weights of SmolLM2-135M-Instruct.Q4_1.gguf.

Needs: pip install torch transformers accelerate gguf (seen with torch 2.15, transformers 5.24, gguf 0.19; about 6 GB).
Use:   python make_smollm2.py MODEL.gguf smollm2.jsonl

transformers reads the GGUF and dequantises it, so both sides hold the same weights. One line per prompt:
  name, tokens        the ids, all fed at once
  top1                [id, margin in log-probability] after each position
  top                 [{at, ids, logprobs}] the 20 likeliest after some positions
  logits              [{at, step, mean, f16}] logits of ids 0, step, 2*step, ... after position `at`: base64 of
                      little-endian float16 of (logit - mean), mean over all ids
"""
import base64
import json
import os
import sys

import numpy
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

LONG = (
    "The house on the hill had been empty for eleven years when Marta bought it. The roof leaked over the kitchen, the "
    "boiler was older than she was, and the previous owner had labelled every switch in a language nobody in the valley "
    "spoke. She began with the larder. Shelf by shelf she wrote down what was there: flour, rice, twelve jars of "
    "tomatoes, a tin of olive oil, dried beans, salt, sugar, two bottles of vinegar and a box of candles. Then she wrote "
    "down what was missing, and when each thing would run out if four people ate three meals a day. On Monday the "
    "electrician came. He measured the current in each room, shook his head twice, and replaced the fuse box. On Tuesday "
    "the children arrived with their bicycles and their questions. Why does the door close by itself? Who lived here "
    "before? Can we paint the ceiling blue? Marta answered the first question with a screwdriver, the second with a "
    "photograph, and the third with a bucket of paint. By the end of the week the house had a list of rules pinned to "
    "the larder door, and at the top of the list it said:"
)

PROMPTS = {
    "english": "The capital of France is Paris. The capital of Italy is",
    "italian": "Buongiorno! Oggi prepariamo il pranzo della domenica: prima si fa il soffritto con la cipolla, poi si "
    "aggiungono i pomodori e",
    "code": "def fibonacci(n):\n    \"\"\"Return the n-th Fibonacci number.\"\"\"\n    a, b = 0, 1\n    for _ in range(n):\n",
    "json": "{\"rooms\": [{\"name\": \"kitchen\", \"lights\": 3, \"temperature\": 20.5}, {\"name\": \"bedroom\", ",
    "chat": "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\nName three fruits that are "
    "red.<|im_end|>\n<|im_start|>assistant\n",
    "numbers": "1, 2, 4, 8, 16, 32, 64, 128, 256, 512,",
    "mixed": "Caffè, naïve, Straße, 東京, 🙂 — these words come from",
    "long": LONG,
}
LOGITS_AFTER = {"english": [0, -1], "italian": [-1], "code": [7, -1], "json": [-1], "chat": [-1], "numbers": [-1],
                "mixed": [-1], "long": [63, 128, -1]}


def encode_logits(row, at, step):
    mean = float(row.mean())
    part = (row[::step] - mean).astype("<f2")
    return {"at": at, "step": step, "mean": round(mean, 6), "f16": base64.b64encode(part.tobytes()).decode()}


def golden(name, ids, logits):
    logprobs = torch.log_softmax(logits, dim=-1)
    two = torch.topk(logprobs, 2, dim=-1)
    line = {"name": name, "tokens": ids, "top1": [], "top": [], "logits": []}
    for at in range(len(ids)):
        margin = float(two.values[at, 0] - two.values[at, 1])
        line["top1"].append([int(two.indices[at, 0]), round(margin, 5)])
    for at in sorted({len(ids) - 1, *range(0, len(ids), max(1, len(ids) // 10))}):
        top = torch.topk(logprobs[at], 20)
        line["top"].append({"at": at, "ids": top.indices.tolist(), "logprobs": [round(v, 5) for v in top.values.tolist()]})
    for at in LOGITS_AFTER[name]:
        at %= len(ids)
        step = 1 if name == "long" and at == len(ids) - 1 else 16
        line["logits"].append(encode_logits(logits[at].numpy(), at, step))
    return line


def main():
    path, out = sys.argv[1:]
    folder, file = os.path.split(os.path.abspath(path))
    torch.set_num_threads(2)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
    with open(out, "w", encoding="utf-8") as lines, torch.no_grad():
        for name, text in PROMPTS.items():
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            logits = model(torch.tensor([ids])).logits[0].to(torch.float32)
            assert numpy.isfinite(logits.numpy()).all()
            lines.write(json.dumps(golden(name, ids, logits), separators=(",", ":")) + "\n")
            print(f"{name}: {len(ids)} tokens, after the last comes {tokenizer.decode(int(logits[-1].argmax()))!r}")
    print(f"{os.path.getsize(out)} bytes")


if __name__ == "__main__":
    main()
