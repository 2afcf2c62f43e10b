"""Made-up words that look English or German: a character model of the word lists, sampled."""
import random
from collections import defaultdict

ORDER = 3


class Spelling:
    """Draws words letter by letter, each from what follows the two or three letters before it in real words."""

    def __init__(self, words):
        self.following = defaultdict(list)
        self.known = set(words)
        for word in words:
            marked = '^' * ORDER + word + '$'
            for end in range(ORDER, len(marked)):
                for length in (ORDER - 1, ORDER):
                    self.following[marked[end - length:end]].append(marked[end])

    def word(self, rng: random.Random, shortest=4, longest=12):
        """A word that is none of the lists'."""
        while True:
            word = self._draw(rng, longest)
            if shortest <= len(word) <= longest and word not in self.known:
                return word

    def _draw(self, rng, longest):
        text = '^' * ORDER
        while len(text) <= longest + ORDER:
            letters = self.following[text[-ORDER if rng.random() < 0.6 else 1 - ORDER:]]
            letter = rng.choice(letters)
            if letter == '$':
                break
            text += letter
        return text[ORDER:]
