"""
The weights that training starts from: a weighted bag of words, which is exact from the first step.

The content of a token is a sum of random directions: its stem's, its concept's, its topic's, its first letters' and its letter trigrams', so
that tokens are as near as they have these in common. A layer norm makes all tokens equally long; ballast in the steering components takes
what the content leaves, so that after the norm the content is as long as the token is important. The pooled vector keeps the content alone.
"""
import math
import zlib

import numpy as np

from shape import BALLAST, BEGINS_WORD, IS_MARK, POSITION, Shape
from vocabulary import WEIGHTS

STEM, CONCEPT, TOPIC, FIRST_LETTERS, TRIGRAMS = 0.5, 0.5, 0.15, 0.2, 0.2
CONTENT = 0.75  # share of a token's length that the content of the heaviest token takes
FLAG = 0.08
PLACE = 0.3


def token_table(tokens, shape: Shape, seed: int):
    """Rows of length 1: content, and steering that says the rest."""
    direction = Directions(shape.n_content, seed)
    heaviest = max(WEIGHTS.values())
    table = np.zeros((len(tokens), shape.n_embd), np.float32)
    for row, token in zip(table, tokens):
        weight = CONTENT * WEIGHTS[token.kind] / heaviest
        if weight:
            content = _content(token, direction)
            row[:shape.n_content] = weight * content / np.linalg.norm(content)
        steering = row[shape.n_content:]
        _pair(steering, BEGINS_WORD, FLAG if token.begins_word else -FLAG)
        _pair(steering, IS_MARK, FLAG if token.kind in ('special', 'mark') else -FLAG)
        _pair(steering, BALLAST, math.sqrt(max(0, 1 - PLACE**2 - weight**2 - 2 * FLAG**2)))
    return table


def position_table(shape: Shape):
    """Sines and cosines in the steering components, of length PLACE."""
    n_waves = (shape.n_steering - POSITION) // 2
    waves = np.pi * 0.9 ** (np.arange(n_waves) * 4)
    angles = np.arange(shape.n_context)[:, None] * waves
    table = np.zeros((shape.n_context, shape.n_embd), np.float32)
    table[:, shape.n_content + POSITION:] = np.concatenate([np.sin(angles), np.cos(angles)], 1) * PLACE / math.sqrt(n_waves)
    return table, waves


def neighbour_head(shape: Shape, waves, offset: int, sharpness: float):
    """Query and key weights (head width x width) of a head that looks at the token `offset` places on."""
    width = shape.n_embd // shape.n_head
    n = len(waves)
    query, key = np.zeros((2, width, shape.n_embd), np.float32)
    sines = slice(shape.n_content + POSITION, shape.n_content + POSITION + n)
    cosines = slice(sines.stop, sines.stop + n)
    sin, cos = np.sin(offset * waves), np.cos(offset * waves)
    query[:n, sines], query[:n, cosines] = np.diag(cos), np.diag(sin)
    query[n:2 * n, cosines], query[n:2 * n, sines] = np.diag(cos), -np.diag(sin)
    key[:n, sines] = key[n:2 * n, cosines] = np.eye(n)
    return query * sharpness, key


class Directions:
    """A random direction for every name, the same in every run."""

    def __init__(self, width, seed):
        self.width, self.seed, self.known = width, seed, {}

    def __call__(self, name):
        if name not in self.known:
            rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
            self.known[name] = rng.standard_normal(self.width) / math.sqrt(self.width)
        return self.known[name]


def _content(token, direction):
    content = STEM * direction('stem ' + token.stem)
    if token.concept >= 0:
        content = content + CONCEPT * direction(f'concept {token.concept}')
        if token.topic != 'generic':
            content = content + TOPIC * direction('topic ' + token.topic)
    letters = token.letters
    if token.begins_word and len(letters) >= 4:
        content = content + FIRST_LETTERS * direction('first ' + letters[:4])
    if token.kind in ('word', 'generic', 'start', 'inside', 'piece') and len(letters) > 1:
        spelt = ('^' if token.begins_word else '') + letters
        trigrams = [spelt[i:i + 3] for i in range(len(spelt) - 2)] or [spelt]
        content = content + TRIGRAMS * sum(direction('letters ' + each) for each in trigrams) / math.sqrt(len(trigrams))
    return content


def _pair(steering, place, value):
    steering[place], steering[place + 1] = value / math.sqrt(2), -value / math.sqrt(2)
