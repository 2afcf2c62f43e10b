"""Character classes for `re`, which has no \\p{L}: what llama.cpp's pre-tokenizers call letters and numbers."""
import sys
import unicodedata


def _ranges(initial):
    """Source of a character class with every code point whose category starts with `initial`."""
    parts, start = [], None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code))[0] == initial
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            parts.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(parts)


LETTER = _ranges("L")
NUMBER = _ranges("N")
