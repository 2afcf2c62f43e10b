"""
Trains svc-embed-tiny: python3 train.py --out FOLDER [--steps N] [--seed N]

Contrastive: a text's other form has to be nearer than everything else in the batch. Goes on from FOLDER/checkpoint.pt when there is one; uses a
CUDA GPU when there is one. Ends with FOLDER/checkpoint.pt, which export.py turns into a model file, and FOLDER/log.jsonl.
"""
import argparse
import json
import math
import os
import time
from pathlib import Path

# With more threads sums are added in another order, and the model's last bits differ from the shipped ones.
os.environ.setdefault('OMP_NUM_THREADS', '1')

import torch
from torch.nn import functional as F

from batches import BatchSize, make_batch
from model import Encoder, embed, pad
from shape import Shape
from tokenizer import Tokenizer
from vocabulary import build_vocabulary

TEMPERATURE = 0.05
LAYERS_RATE, TABLE_RATE, WARM_UP = 4e-4, 4e-4, 30
LATER_TABLE_RATE = 0.25  # share of the table's rate while the layers train
WEIGHTS = {'retrieval': 1.0, 'sentences': 0.3, 'words': 0.5}
EVERY = 100  # steps between checkpoints


def main():
    arguments = read_arguments()
    torch.manual_seed(arguments.seed)
    device = 'cuda' if torch.cuda.is_available() else 'cpu'
    tokens = build_vocabulary(arguments.seed)
    tokenizer = Tokenizer(tokens)
    model = Encoder(tokens, Shape(), arguments.seed).to(device)
    run = Run(Path(arguments.out), model, arguments.seed)
    run.resume()
    n_steps = arguments.bag_steps + arguments.steps
    while run.step < min(n_steps, arguments.pause_at or n_steps):
        started = time.monotonic()
        is_bag = run.step < arguments.bag_steps
        rate = slope(run.step, arguments.bag_steps) if is_bag else slope(run.step - arguments.bag_steps, arguments.steps)
        batch = make_batch(arguments.seed, run.step, BatchSize(n_articles=arguments.articles * (2 if is_bag else 1)))
        loss = train_step(run, tokenizer, batch, rate, 0 if is_bag else None)
        run.done(loss, time.monotonic() - started)
        if run.step % EVERY == 0 or run.step in (n_steps, arguments.pause_at):
            run.save(validate(model, tokenizer, arguments))


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--out', required=True)
    parser.add_argument('--bag-steps', type=int, default=600, help='of the token table alone')
    parser.add_argument('--steps', type=int, default=0, help='of the whole model, after that')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--articles', type=int, default=BatchSize.n_articles, help='articles of a batch; fewer for a quick look')
    parser.add_argument('--pause-at', type=int, help='stop after this step, as if interrupted')
    return parser.parse_args()


def slope(step, n_steps):
    """Share of the full rate: it warms up, and sinks along a cosine."""
    return min(1, (step + 1) / WARM_UP) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / n_steps)) / 2)


def train_step(run, tokenizer, batch, rate, n_layer):
    """One update from all groups of the batch; `n_layer` = 0 leaves the layers out."""
    total = 0.0
    for name, weight in WEIGHTS.items():
        loss = contrast(run.model, tokenizer, getattr(batch, name), n_layer)
        (weight * loss).backward()
        total += weight * loss.item()
    run.update({'table': rate} if n_layer == 0 else {'table': LATER_TABLE_RATE * rate, 'layers': rate})
    return total


def contrast(model, tokenizer, pairs, n_layer):
    """InfoNCE in both directions."""
    left, right = (encode(model, tokenizer, side, n_layer) for side in zip(*pairs))
    scores = left @ right.T / TEMPERATURE
    truth = torch.arange(len(pairs), device=scores.device)
    return (F.cross_entropy(scores, truth) + F.cross_entropy(scores.T, truth)) / 2


def encode(model, tokenizer, texts, n_layer, at_once=16):
    """Vectors of texts; those of about the same length go together, since padding costs as much as tokens."""
    rows = [tokenizer.encode(text, 384) for text in texts]
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    chunks = [order[start:start + at_once] for start in range(0, len(order), at_once)]
    device = model.places.device
    vectors = torch.cat([model(*pad([rows[number] for number in chunk], device), n_layer) for chunk in chunks])
    return vectors[torch.tensor(order, device=device).argsort()]


def validate(model, tokenizer, arguments):
    """How often the right text is nearest, among texts of words that training never draws."""
    n_articles = 5 * arguments.articles
    batch = make_batch(arguments.seed, 0, BatchSize(n_articles, n_sentences=5 * n_articles, n_words=5 * n_articles), held_out=True)
    found = {}
    for name in WEIGHTS:
        left, right = (torch.tensor(embed(model, tokenizer, side)) for side in zip(*getattr(batch, name)))
        found[name] = round((left @ right.T).argmax(1).eq(torch.arange(len(left))).float().mean().item(), 4)
    return found


class Run:
    """A model that is trained, and on disk what has been done so far."""

    def __init__(self, folder, model, seed):
        self.folder, self.model, self.seed = folder, model, seed
        self.layers = [parameter for name, parameter in model.named_parameters() if not name.startswith('tokens.')]
        self.optimizers = {
            'table': (torch.optim.SparseAdam(model.tokens.parameters(), betas=(0.9, 0.98)), TABLE_RATE),
            'layers': (torch.optim.Adam(self.layers, betas=(0.9, 0.98)), LAYERS_RATE),
        }
        self.step, self.seconds, self.losses = 0, 0.0, []
        folder.mkdir(parents=True, exist_ok=True)

    def update(self, rates):
        """Moves the parts that have a rate, and forgets the gradients of all."""
        torch.nn.utils.clip_grad_norm_(self.layers, 1.0)
        for name, (optimizer, full_rate) in self.optimizers.items():
            for group in optimizer.param_groups:
                group['lr'] = full_rate * rates.get(name, 0)
            if name in rates:
                optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def resume(self):
        if not (self.folder / 'checkpoint.pt').exists():
            return
        state = torch.load(self.folder / 'checkpoint.pt', map_location=self.model.places.device)
        self.model.load_state_dict(state['model'])
        for name, (optimizer, _) in self.optimizers.items():
            optimizer.load_state_dict(state[name])
        self.step, self.seconds = state['step'], state['seconds']

    def done(self, loss, seconds):
        self.step, self.seconds = self.step + 1, self.seconds + seconds
        self.losses.append(loss)

    def save(self, found):
        """The checkpoint appears by rename: a run that is killed leaves the one before."""
        parts = {'model': self.model.state_dict(), **{name: optimizer.state_dict() for name, (optimizer, _) in self.optimizers.items()}}
        state = {**parts, 'seed': self.seed, 'step': self.step, 'seconds': self.seconds}
        torch.save(state, self.folder / 'checkpoint.part')
        os.replace(self.folder / 'checkpoint.part', self.folder / 'checkpoint.pt')
        line = {'step': self.step, 'minutes': round(self.seconds / 60, 1), 'loss': round(sum(self.losses) / len(self.losses), 4), **found}
        self.losses.clear()
        with open(self.folder / 'log.jsonl', 'a') as log:
            print(json.dumps(line), file=log)
        print(json.dumps(line), flush=True)


if __name__ == '__main__':
    main()
