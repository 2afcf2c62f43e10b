"""A byte-level BPE tokenizer that gives the same tokens as llama.cpp does with `tokenizer.ggml.pre = llama-bpe`.

Merges stay inside runs of letters, so that a word has the same tokens after a space, a quote or a bracket: copying a name from
prose into JSON is then the same as copying it into prose. Frequent pieces of punctuation, those of a space and a word that names
nothing, and all numbers of one to three digits, are tokens of their own: `llama-bpe` looks a whole piece up before it merges.
"""
import json
import re
from collections import Counter
from pathlib import Path

from .bpe import join_pair, learn_merges
from .pieces import letter_runs, pieces

CONTROL, USER_DEFINED = "control", "user_defined"
# The space before a JSON value is the same token whatever the value is. Were it one with a quote, and alone before a number, a grammar that
# asks for a string behind the space of a number would lead to where no training text ever was.
_VALUE_OPENING = re.compile(r' ["\[{-]')


class Tokenizer:
    """`specials`: {text: CONTROL or USER_DEFINED}, the first ids. Control tokens end or frame a turn and are no text; user-defined
    ones are text that is always one token."""

    def __init__(self, specials, tokens, merges):
        self.specials, self.tokens, self.merges = dict(specials), list(tokens), [tuple(pair) for pair in merges]
        self.special_ids = {text: i for i, text in enumerate(self.specials)}
        self.ids = {token: i for i, token in enumerate(self.tokens, len(self.specials))}
        self.n_bytes = [len(text.encode()) for text in self.specials] + [len(token) for token in self.tokens]
        self._rank = {pair: i for i, pair in enumerate(self.merges)}
        self._cache = {}
        alternatives = "|".join(map(re.escape, sorted(self.specials, key=len, reverse=True)))
        self._special = re.compile(f"({alternatives})") if alternatives else None

    @property
    def n_vocab(self):
        return len(self.specials) + len(self.tokens)

    def encode(self, text):
        """Ids of `text`, in which specials are recognised."""
        parts = self._special.split(text) if self._special else [text]
        ids = []
        for i, part in enumerate(parts):
            if i % 2:
                ids.append(self.special_ids[part])
            else:
                for piece in pieces(part):
                    ids += self._piece(piece)
        return ids

    def _piece(self, piece):
        found = self._cache.get(piece)
        if found is None:
            if len(self._cache) > 500_000:  # made-up words would fill the memory
                self._cache.clear()
            found = self._cache[piece] = self._merge(piece.encode())
        return found

    def _merge(self, data):
        if data in self.ids:
            return [self.ids[data]]
        symbols = [bytes([b]) for b in data]
        while len(symbols) > 1:
            best = min(zip(symbols, symbols[1:]), key=lambda pair: self._rank.get(pair, len(self._rank)))
            if best not in self._rank:
                break
            symbols = join_pair(symbols, best)
        return [self.ids[symbol] for symbol in symbols]

    def save(self, path):
        hexed = {"tokens": [t.hex() for t in self.tokens], "merges": [[a.hex(), b.hex()] for a, b in self.merges]}
        Path(path).write_text(json.dumps({"specials": self.specials, **hexed}))


def load_tokenizer(path):
    data = json.loads(Path(path).read_text())
    merges = [tuple(map(bytes.fromhex, pair)) for pair in data["merges"]]
    return Tokenizer(data["specials"], map(bytes.fromhex, data["tokens"]), merges)


def train_tokenizer(texts, n_vocab, specials, n_whole=600, numbers=True, is_name=lambda word: False):
    """Learns a tokenizer of `n_vocab` tokens from `texts` (an iterable): the specials, 256 bytes, 1,110 numbers if wanted, the
    `n_whole` most frequent pieces that merges cannot make and that hold no name, and as many merges as there is room for."""
    words, whole = Counter(), Counter()
    for text in texts:
        for piece in pieces(text):
            runs = letter_runs(piece)
            words.update(run.encode() for run in runs)
            if len(piece) > 1 and runs != [piece] and not piece[0].isdigit() and not _VALUE_OPENING.match(piece) and not any(map(is_name, runs)):
                whole[piece.encode()] += 1
    digits = [f"{n:0{width}}".encode() for width in (1, 2, 3) for n in range(10**width)] if numbers else []
    frequent = [piece for piece, _ in sorted(whole.items(), key=lambda item: (-item[1], item[0]))[:n_whole]]
    tokens = list(dict.fromkeys([bytes([b]) for b in range(256)] + digits + frequent))
    merges = learn_merges(dict(sorted(words.items())), n_vocab - len(specials) - len(tokens))
    return Tokenizer(specials, [*tokens, *dict.fromkeys(a + b for a, b in merges)], merges)
