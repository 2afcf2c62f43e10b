"""Learns byte-pair merges from counted words."""
import heapq
from collections import Counter, defaultdict


def learn_merges(words, n_merges):
    """`words`: {bytes: count}. Returns up to `n_merges` pairs of bytes, the most frequent first; ties go to the smaller pair,
    so that the same counts always give the same merges."""
    index = _PairIndex(words)
    merges = []
    while len(merges) < n_merges and (best := index.most_frequent()):
        merges.append(best)
        index.merge(best)
    return merges


def join_pair(symbols, pair):
    """`symbols` with every occurrence of `pair`, from the left, as one symbol."""
    joined, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(symbols[i])
            i += 1
    return joined


class _PairIndex:
    """How often each pair of neighbours occurs, and in which words. The heap keeps outdated counts, which are skipped."""

    def __init__(self, words):
        self._split = [[bytes([b]) for b in word] for word in words]
        self._weights = list(words.values())
        self._counts, self._where, self._changed = Counter(), defaultdict(set), set()
        for i in range(len(self._split)):
            self._count(i, self._weights[i])
        self._heap = [(-count, pair) for pair, count in self._counts.items()]
        heapq.heapify(self._heap)

    def most_frequent(self):
        while self._heap:
            count, pair = heapq.heappop(self._heap)
            if -count == self._counts[pair] and -count > 1:
                return pair
        return None

    def merge(self, pair):
        self._changed.clear()
        for i in self._where.pop(pair):
            self._count(i, -self._weights[i])
            self._split[i] = join_pair(self._split[i], pair)
            self._count(i, self._weights[i])
        for changed in self._changed:
            heapq.heappush(self._heap, (-self._counts[changed], changed))

    def _count(self, i, weight):
        symbols = self._split[i]
        for pair in zip(symbols, symbols[1:]):
            self._counts[pair] += weight
            self._changed.add(pair)
            if weight > 0:
                self._where[pair].add(i)
