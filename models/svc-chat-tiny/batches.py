"""Turns conversations into batches of tokens and targets."""
import random
from dataclasses import dataclass

import torch
from chat import render
from data import LAST_MIXTURE, MIXTURE, conversation
from sources import LOOKS, pointers


def example(tokenizer, messages, tools=None, rng=None, share=0.0):
    """Tokens of a conversation; for each position the next token if an assistant has to say it, else -1; and what
    `sources.pointers` says of it, a list for each of LOOKS. A random share of the other tokens counts too."""
    text = render(messages, tools)
    tokens = tokenizer.encode(text)
    lengths = [tokenizer.n_bytes[token] for token in tokens]
    start, end = tokenizer.special_ids["<|assistant|>"], tokenizer.special_ids["<|end|>"]
    targets, inside = [], False
    for token, following in zip(tokens, tokens[1:]):
        inside = token == start or (inside and token != end)
        targets.append(following if inside or (share and rng.random() < share) else -1)
    return tokens[:-1], targets, *(row[:-1] for row in pointers(messages, text, tokens, lengths))


def _n_targets(rows):
    return sum(target >= 0 for target in rows[1])


@dataclass(frozen=True)
class Plan:
    """What each step trains on. `per_batch`: most tokens of a batch; `waste`: how much of it may be padding."""

    seed: int
    steps: int
    per_step: int
    per_batch: int
    waste: float

    def difficulty(self, step):
        """Conversations are simple at first, and as hard as they will be from a tenth of the steps on."""
        return min(1.0, 10 * step / self.steps)

    def is_late(self, step):
        """Whether it belongs to the last seventh: what that sees, the model knows best, and its weights are averaged."""
        return step >= self.steps - self.steps // 7

    def mixture(self, step):
        return LAST_MIXTURE if self.is_late(step) else MIXTURE

    def longest(self, step):
        """How much of a conversation is used, in tokens. Attention costs the square of it, so long ones come late; they teach far positions."""
        done = step / self.steps
        return 640 if done < 0.3 else 1024 if done < 0.8 else 2560

    def other_share(self, step):
        """Share of tokens that no assistant says and that count all the same: names that come again are a first lesson in copying.
        Most of them cannot be guessed, and would soon be most of the loss."""
        return 0.08 if step < self.steps / 10 else 0.0


class Steps(torch.utils.data.Dataset):
    """The batches of each step: the same for the same plan, whoever makes them."""

    def __init__(self, tokenizer, plan):
        self._tokenizer, self._plan = tokenizer, plan

    def __len__(self):
        return self._plan.steps

    def __getitem__(self, step):
        plan = self._plan
        rng = random.Random(f"{plan.seed} {step}")
        examples, total = [], 0
        while total < plan.per_step:
            made = example(self._tokenizer, *conversation(rng, "train", plan.difficulty(step), plan.mixture(step)), rng, plan.other_share(step))
            kept = tuple(row[: plan.longest(step)] for row in made)
            # Its first turns are worth having, unless it is hardly more than a prompt.
            if 2 * _n_targets(kept) >= _n_targets(made):
                examples.append(kept)
                total += len(kept[0])
        return self._pack(sorted(examples, key=lambda made: len(made[0])))

    def _pack(self, examples):
        """Conversations of similar length share a batch, because a batch is as long as its longest."""
        out, batch = [], []
        for made in examples:
            length = len(made[0])
            if batch and ((len(batch) + 1) * length > self._plan.per_batch or length > (1 + self._plan.waste) * len(batch[0][0]) + 8):
                out.append(pad(batch))
                batch = []
            batch.append(made)
        return [*out, pad(batch)]


def effort(batch):
    """About how long a batch takes, in units of its own: attention costs the square of the length, and each batch something by itself.
    Fitted to batches of 48 to 4,096 tokens on a core with AVX512-BF16."""
    rows, length = batch[0].shape
    return 110_000 + rows * length * (1450 + length)


def pad(batch):
    """Examples as one matrix of tokens, one of targets and one for each of LOOKS."""
    length = -(-max(len(tokens) for tokens, *_ in batch) // 16) * 16
    padded = [torch.full((len(batch), length), nothing) for nothing in (0, -1, *[-1] * len(LOOKS))]
    for i, rows in enumerate(batch):
        for matrix, row in zip(padded, rows):
            matrix[i, : len(row)] = torch.tensor(row)
    return padded
