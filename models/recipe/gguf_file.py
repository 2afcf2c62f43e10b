"""Writes GGUF files with gguf-py of the llama.cpp source that native/sources.json pins."""
import importlib
import subprocess
import sys
from pathlib import Path

from .tokenizer import CONTROL

CHECKOUT = Path(__file__).resolve().parents[2]


def gguf_module():
    """The module `gguf`, from the pinned source; fetched when it is not on this machine yet."""
    listed = subprocess.run(["node", "scripts/sources.mjs"], cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    folders = dict(line.split("\t") for line in listed.splitlines())
    path = str(Path(folders["llama.cpp"]) / "gguf-py")
    if path not in sys.path:
        sys.path.insert(0, path)
    return importlib.import_module("gguf")


def open_writer(path, arch):
    return gguf_module().GGUFWriter(str(path), arch)


def close_writer(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_tokenizer(writer, tokenizer, template=None, add_bos=False, add_eos=False, **ids):
    """Writes the tokenizer. `ids` names tokens by their text: bos, eos, unk, sep, pad, cls, mask, eot."""
    types = gguf_module().TokenType
    kinds = [types.CONTROL if kind == CONTROL else types.USER_DEFINED for kind in tokenizer.specials.values()]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list([*tokenizer.specials, *map(printable, tokenizer.tokens)])
    writer.add_token_types([*kinds, *[types.NORMAL] * len(tokenizer.tokens)])
    writer.add_token_merges([f"{printable(a)} {printable(b)}" for a, b in tokenizer.merges])
    writer.add_add_bos_token(add_bos)
    writer.add_add_eos_token(add_eos)
    for name, text in ids.items():
        getattr(writer, f"add_{name}_token_id")(tokenizer.special_ids[text])
    if template:
        writer.add_chat_template(template)


def _alphabet():
    """GPT-2's printable character for each byte: itself where it is printable, else one from U+0100 on."""
    same = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [b for b in range(256) if b not in same]
    return {**{b: chr(b) for b in same}, **{b: chr(0x100 + i) for i, b in enumerate(others)}}


_PRINTABLE = _alphabet()


def printable(token):
    return "".join(_PRINTABLE[b] for b in token)
