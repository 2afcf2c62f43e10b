"""How many answers of held-out conversations the model gets right, word for word, when it is shown the earlier turns."""
import random
from collections import Counter

import torch
from batches import example, pad
from data import conversation
from sources import LOOKS


class HeldOut:
    def __init__(self, tokenizer, seed, count):
        rng = random.Random(f"held out {seed}")
        self._end = tokenizer.special_ids["<|end|>"]
        made = []
        while len(made) < count:
            messages, tools = conversation(rng, "eval")
            rows = example(tokenizer, messages, tools)
            if len(rows[0]) <= 1024:
                made.append((rows, [m["kind"] for m in messages if m["role"] == "assistant"]))
        made.sort(key=lambda one: len(one[0][0]))
        self._batches = [made[i : i + 4] for i in range(0, count, 4)]

    @torch.no_grad()
    def report(self, model, device, dtype):
        """A share of right answers for each kind of answer, and, behind an @, of right looks for each head that points."""
        right, asked = Counter(), Counter()
        for batch in self._batches:
            tokens, targets, *pointers = (matrix.to(device) for matrix in pad([rows for rows, _ in batch]))
            hidden = model(tokens, dtype)
            for row, kind in enumerate(f"@{look}" for look in LOOKS):
                scores, wanted = model.looks(row, pointers[row], dtype)
                asked[kind] += len(wanted)
                right[kind] += int((scores.argmax(-1) == wanted).sum())
            for i, (_, kinds) in enumerate(batch):
                wanted = targets[i] >= 0
                guessed = model.logits(hidden[i][wanted], dtype).argmax(-1).tolist()
                for kind, is_right in zip(kinds, self._answers(guessed, targets[i][wanted].tolist())):
                    asked[kind] += 1
                    right[kind] += is_right
        return "  ".join(f"{kind} {right[kind] / asked[kind]:.3f} ({asked[kind]})" for kind in sorted(asked))

    def _answers(self, guessed, wanted):
        """For each answer whether every token of it was guessed."""
        start = 0
        while start < len(wanted):
            end = wanted.index(self._end, start) + 1
            yield guessed[start:end] == wanted[start:end]
            start = end
