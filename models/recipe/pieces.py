"""Splits text into the pieces that llama.cpp's pre-tokenizer `llama-bpe` gives to BPE.

Source of the pattern: LLAMA_VOCAB_PRE_TYPE_LLAMA3 in src/llama-vocab.cpp of the pinned llama.cpp.
"""
import re

from .unicode_classes import LETTER, NUMBER

_L, _N = LETTER, NUMBER
_PIECE = re.compile(
    rf"'(?:[sSdDmMtT]|[rR][eE]|[vV][eE]|[lL][lL])"
    rf"|[^\r\n{_L}{_N}]?[{_L}]+"
    rf"|[{_N}]{{1,3}}"
    rf"| ?[^\s{_L}{_N}]+[\r\n]*"
    rf"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LETTERS = re.compile(rf"[{_L}]+")

pieces = _PIECE.findall
letter_runs = _LETTERS.findall
