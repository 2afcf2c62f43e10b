"""Turns conversations into batches of tokens and targets."""
import random

import torch
from chat import render
from data import conversation


def example(tokenizer, messages, tools=None, rng=None, share=0.0):
    """Tokens of a conversation, and for each position the next token if an assistant has to say it, else -1. A random share of the
    other tokens counts too."""
    tokens = tokenizer.encode(render(messages, tools))
    start, end = tokenizer.special_ids["<|assistant|>"], tokenizer.special_ids["<|end|>"]
    targets, inside = [], False
    for token, following in zip(tokens, tokens[1:]):
        inside = token == start or (inside and token != end)
        targets.append(following if inside or (share and rng.random() < share) else -1)
    return tokens[:-1], targets


def batches(tokenizer, seed, step, n_tokens, per_batch, difficulty, longest, share=0.0):
    """The batches of one step: the same for the same arguments. Conversations of similar length share a batch, because a batch is
    as long as its longest."""
    rng = random.Random(f"{seed} {step}")
    pool, total = [], 0
    while total < n_tokens:
        made = example(tokenizer, *conversation(rng, "train", difficulty), rng, share)
        if len(made[0]) <= longest:
            pool.append(made)
            total += len(made[0])
    pool.sort(key=lambda made: len(made[0]))
    out, batch = [], []
    for made in pool:
        if batch and (len(batch) + 1) * len(made[0]) > per_batch:
            out.append(pad(batch))
            batch = []
        batch.append(made)
    return [*out, pad(batch)]


def pad(batch):
    length = -(-len(batch[-1][0]) // 16) * 16
    tokens, targets = torch.zeros(len(batch), length, dtype=torch.long), torch.full((len(batch), length), -1)
    for i, (ids, wanted) in enumerate(batch):
        tokens[i, : len(ids)] = torch.tensor(ids)
        targets[i, : len(ids)] = torch.tensor(wanted)
    return tokens, targets
