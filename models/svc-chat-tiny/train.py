"""Trains svc-chat-tiny: python3 models/svc-chat-tiny/train.py [--steps N] [--workers N] [--folder FOLDER].

Starts from the last checkpoint of the folder when there is one. The same seed and steps give the same batches, whatever the number of
workers; sums in another order still make the last bits differ.
"""
import argparse
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from recipe.workplace import has_fast_bfloat16, keep_freed_memory, training_folder

if __name__ == "__main__":
    keep_freed_memory()
import torch
import torch.multiprocessing
from batches import batches
from data import new_tokenizer
from held_out import HeldOut
from model import Model, Shape, initialise
from recipe.gradients import Workers
from recipe.optimizer import Optimizer
from recipe.tokenizer import load_tokenizer


class Training:
    def __init__(self, options, workers):
        self.options, self.workers = options, workers
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = torch.bfloat16 if self.device.type == "cuda" or has_fast_bfloat16() else torch.float32
        self.tokenizer = load_tokenizer(options.folder / "tokenizer.json")
        torch.manual_seed(options.seed)
        self.model = Model(Shape(self.tokenizer.n_vocab, options.width, options.layers, options.heads, options.feed_forward))
        initialise(self.model)
        self.model.to(self.device)
        self.optimizer = _optimizer(self.model)
        self.step, self.n_tokens, self.loss, self.seconds = 0, 0, None, 0.0
        self._load()

    def run(self):
        held_out = HeldOut(self.tokenizer, self.options.seed, self.options.held_out) if self.workers.is_first else None
        started = time.monotonic() - self.seconds
        while self.step < self.options.steps:
            self._train_step()
            self.seconds = time.monotonic() - started
            last = self.step == self.options.steps
            if self.workers.is_first and (self.step % 50 == 0 or last):
                print(f"step {self.step}  loss {self.loss:.4f}  tokens {self.n_tokens}  {self.seconds:.0f} s", flush=True)
            if self.workers.is_first and (self.step % self.options.check_every == 0 or last):
                print(f"step {self.step}  held out: {held_out.report(self.model, self.device, self.dtype)}", flush=True)
                self._save()

    def _train_step(self):
        options = self.options
        done = self.step / options.steps
        all_batches = batches(self.tokenizer, options.seed, self.step, options.step_tokens, options.batch_tokens,
                              difficulty=min(1.0, max(0.1, done * 4)), longest=_longest(done),
                              share=0.08 if done < 0.5 else 0.0)  # fmt: skip
        n_targets = sum(int((targets >= 0).sum()) for _, targets in all_batches)
        total = 0.0
        for tokens, targets in self.workers.share(all_batches):
            weight = int((targets >= 0).sum()) / n_targets
            loss = self.model.loss(tokens.to(self.device), targets.to(self.device), self.dtype) * weight
            loss.backward()
            total += loss.item()
        total = self.workers.sum_gradients(list(self.model.parameters()), total)
        self.step += 1
        self.n_tokens += sum(tokens.numel() for tokens, _ in all_batches)
        self.optimizer.step(_rate(self.step, options.steps))
        self.loss = total if self.loss is None else 0.98 * self.loss + 0.02 * total

    def _save(self):
        state = {"shape": asdict(self.model.shape), "weights": self.model.state_dict(), "optimizer": self.optimizer.state(), "step": self.step,
                 "n_tokens": self.n_tokens, "loss": self.loss, "seconds": self.seconds, "seed": self.options.seed}  # fmt: skip
        written = self.options.folder / "checkpoint.new"
        torch.save(state, written)
        written.rename(self.options.folder / "checkpoint.pt")

    def _load(self):
        path = self.options.folder / "checkpoint.pt"
        if not path.exists():
            return
        state = torch.load(path, map_location=self.device)
        self.model.load_state_dict(state["weights"])
        self.optimizer.load_state(state["optimizer"])
        self.step, self.n_tokens, self.loss, self.seconds = (state[key] for key in ("step", "n_tokens", "loss", "seconds"))


def _optimizer(model):
    matrices = [pair for layer in model.layers for pair in ((layer.qkv, 3), (layer.out, 1), (layer.gate_up, 2), (layer.down, 1))]
    inside = {id(parameter) for parameter, _ in matrices}
    return Optimizer(matrices, [parameter for parameter in model.parameters() if id(parameter) not in inside])


def _rate(step, steps):
    """Share of the full learning rate: it rises for 100 steps and falls to nothing over the last 30%."""
    return min(1.0, step / 100, (steps - step + 1) / (0.3 * steps))


def _longest(done):
    """Longest conversation in tokens. Attention costs the square of it, so long ones come late; they teach far positions."""
    return 640 if done < 0.3 else 1024 if done < 0.8 else 2560


def _train(rank, options):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    with Workers(rank, options.workers, options.folder) as workers:
        Training(options, workers).run()


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"steps": 18000, "seed": 1, "workers": 2, "width": 192, "layers": 6, "heads": 6, "feed-forward": 384, "check-every": 500,
                          "step-tokens": 8192, "batch-tokens": 4096, "held-out": 300, "tokenizer-conversations": 6000}.items():  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path, default=None, help="where checkpoints are kept")
    options = parser.parse_args()
    options.folder = options.folder or training_folder("svc-chat-tiny")
    options.folder.mkdir(parents=True, exist_ok=True)
    return options


def main():
    options = _options()
    if torch.cuda.is_available():
        options.workers = 1
    tokenizer = options.folder / "tokenizer.json"
    if not tokenizer.exists():
        new_tokenizer(options.seed, options.tokenizer_conversations).save(tokenizer)
    if options.workers == 1:
        _train(0, options)
    else:
        torch.multiprocessing.spawn(_train, (options,), options.workers)


if __name__ == "__main__":
    main()
