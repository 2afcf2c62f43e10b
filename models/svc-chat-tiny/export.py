"""Writes a trained svc-chat-tiny as GGUF: python3 export.py CHECKPOINT OUT.gguf [--type f16|q8_0]."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import numpy as np
import torch
from chat import TEMPLATE
from model import Shape
from recipe.gguf_file import add_tokenizer, close_writer, gguf_module, open_writer
from recipe.tokenizer import load_tokenizer

CONTEXT = 4096
_ROPE_BASE = 10_000.0  # what it is does not matter: rope_freqs.weight turns it into the model's own speeds
DESCRIPTION = "Demonstration model of svc: answers from passages, calls tools, fills JSON; knows nothing of the world."

# Tokens of an answer that goes round in circles, after which it ends.
REPETITION_STOP = 16
# Small letters. Every request of extraction.py for JSON has one of them, or names a schema; where none is said, no object is an answer.
JSON_WORDS = "json,schema,object,objekt,field,feld,data,daten"


def export(weights, shape, tokenizer, path, kind="q8_0"):
    gguf = gguf_module()
    writer = open_writer(path, "llama")
    writer.add_name("svc-chat-tiny")
    writer.add_description(DESCRIPTION)
    writer.add_license("Apache-2.0")
    writer.add_bool("svc.demonstration", True)
    writer.add_uint32("svc.repetition_stop", REPETITION_STOP)
    writer.add_string("svc.json_words", JSON_WORDS)
    writer.add_sampling_temp(0.0)  # there is one right answer to everything it can do
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.n_embd)
    writer.add_block_count(shape.n_layer)
    writer.add_feed_forward_length(shape.n_ff)
    writer.add_head_count(shape.n_head)
    writer.add_head_count_kv(shape.n_head)
    writer.add_rope_dimension_count(shape.head_size)
    writer.add_rope_freq_base(_ROPE_BASE)
    writer.add_layer_norm_rms_eps(shape.eps)
    writer.add_vocab_size(shape.n_vocab)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0 if kind == "q8_0" else gguf.LlamaFileType.MOSTLY_F16)
    add_tokenizer(writer, tokenizer, TEMPLATE, eos="<|end|>", pad="<|end|>")
    for name, tensor in _tensors(weights, shape):
        _add(writer, gguf, name, tensor.float().numpy(), kind)
    close_writer(writer)


def _add(writer, gguf, name, array, kind):
    if array.ndim == 1:
        writer.add_tensor(name, array)
    elif kind == "q8_0":
        quantised = gguf.quants.quantize(array, gguf.GGMLQuantizationType.Q8_0)
        writer.add_tensor(name, quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    else:
        writer.add_tensor(name, array.astype(np.float16))


def _tensors(weights, shape):
    d = shape.n_embd
    # The model scales embeddings on the way in and not on the way out; llama.cpp does neither: the last gain takes the scale back.
    yield "token_embd.weight", weights["embedding"] * d**0.5
    yield "output_norm.weight", weights["norm"] * d**-0.5
    speeds = shape.rotary_speeds
    usual = _ROPE_BASE ** (-torch.arange(len(speeds)) / len(speeds))
    yield "rope_freqs.weight", torch.where(speeds > 0, usual / speeds, torch.tensor(1e30))
    for i in range(shape.n_layer):
        of = lambda name: weights[f"layers.{i}.{name}"]
        q, k, v = of("qkv").chunk(3)
        q_bias, k_bias = of("qk_bias").chunk(2)
        gate, up = of("gate_up").chunk(2)
        named = {
            "attn_norm.weight": of("attn_norm"),
            "attn_q.weight": _interleave(q, shape),
            "attn_k.weight": _interleave(k, shape),
            "attn_v.weight": v,
            "attn_q.bias": _interleave(q_bias, shape),
            "attn_k.bias": _interleave(k_bias, shape),
            "attn_output.weight": of("out"),
            "ffn_norm.weight": of("ffn_norm"),
            "ffn_gate.weight": gate,
            "ffn_up.weight": up,
            "ffn_down.weight": of("down"),
        }
        yield from ((f"blk.{i}.{name}", tensor) for name, tensor in named.items())


def _interleave(rows, shape):
    """Rows of each head from (first half, second half) into pairs: llama.cpp rotates 2i with 2i + 1."""
    halves = rows.view(shape.n_head, 2, shape.head_size // 2, -1)
    return halves.transpose(1, 2).reshape(rows.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--type", choices=("f16", "q8_0"), default="q8_0")
    arguments = parser.parse_args()
    saved = torch.load(arguments.checkpoint, map_location="cpu")
    tokenizer = load_tokenizer(arguments.checkpoint.parent / "tokenizer.json")
    export(saved["weights"], Shape(**saved["shape"]), tokenizer, arguments.out, arguments.type)
    print(f"{arguments.out}: {arguments.out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
