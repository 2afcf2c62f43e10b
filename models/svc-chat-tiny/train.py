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
from batches import Plan, Steps, effort
from data import new_tokenizer
from held_out import HeldOut
from model import Model, Shape, initialise
from recipe.gradients import Workers
from recipe.optimizer import Optimizer
from recipe.tokenizer import load_tokenizer
from torch.optim.swa_utils import AveragedModel


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
        # Steps of so few targets leave the weights about the best ones; the mean over many steps is nearer to those (Izmailov et al. 2018).
        self.average = AveragedModel(self.model)
        self.optimizer = _optimizer(self.model, self.dtype, workers)
        self.progress = {"step": 0, "n_tokens": 0, "loss": None, "seconds": 0.0}
        # A GPU takes larger batches, and waits for nothing but them: processes make them ahead.
        self.ahead = 8 if self.device.type == "cuda" else 0
        self.plan = Plan(options.seed, options.steps, options.step_tokens, options.batch_tokens * (16 if self.ahead else 1), 3.0 if self.ahead else 0.25)
        self._load()

    def run(self):
        options, progress = self.options, self.progress
        if progress["step"] >= options.steps:
            if self.workers.is_first:
                print(f"{options.folder} has all of its {progress['step']} steps already; export.py writes it as GGUF, and --folder begins another run")
            return
        held_out = HeldOut(self.tokenizer, options.seed, options.held_out) if self.workers.is_first else None
        before, started = progress["seconds"], time.monotonic()
        for batches in self._batches():
            self._train_step(batches)
            progress["seconds"] = before + time.monotonic() - started
            # All workers stop at the same step: the first one's clock decides.
            last = progress["step"] == options.steps or self.workers.agree(time.monotonic() - started > options.minutes * 60)
            if self.workers.is_first and (progress["step"] % 50 == 0 or last):
                print("step {step}  loss {loss:.4f}  tokens {n_tokens}  {seconds:.0f} s".format(**progress), flush=True)
            if self.workers.is_first and (progress["step"] % options.check_every == 0 or last):
                self._save()
                print(f"step {progress['step']}  held out: {held_out.report(self._best(), self.device, self.dtype)}", flush=True)
            if last:
                break

    def _batches(self):
        """Each remaining step's batches."""
        remaining = torch.utils.data.Subset(Steps(self.tokenizer, self.plan), range(self.progress["step"], self.options.steps))
        return torch.utils.data.DataLoader(remaining, batch_size=None, num_workers=self.ahead)

    def _train_step(self, batches):
        n_targets, total = sum(int((targets >= 0).sum()) for _, targets, *_ in batches), 0.0
        for batch in self.workers.share(batches, effort):
            loss = self.model.loss(*(matrix.to(self.device) for matrix in batch), dtype=self.dtype, n_targets=n_targets)
            loss.backward()
            total += loss.detach()
        total = self.workers.sum_gradients(list(self.model.parameters()), float(total))
        progress = self.progress
        progress["step"] += 1
        progress["n_tokens"] += sum(tokens.numel() for tokens, *_ in batches)
        progress["loss"] = total if progress["loss"] is None else 0.98 * progress["loss"] + 0.02 * total
        self.optimizer.step(_rate(progress["step"], self.options.steps))
        if self.plan.is_late(progress["step"] - 1):
            self.average.update_parameters(self.model)

    def _best(self):
        """The model that is measured and exported."""
        return self.average.module if self.average.n_averaged > 0 else self.model

    def _save(self):
        """Two files: what a run goes on with, and what is exported, which comes last and names the step that both belong to."""
        folder, step = self.options.folder, self.progress["step"]
        _write(folder / "resume.pt", {"step": step, "weights": self.model.state_dict(), "average": self.average.state_dict(), "optimizer": self.optimizer.state()})
        _write(folder / "checkpoint.pt", {"shape": asdict(self.model.shape), "weights": self._best().state_dict(), "progress": self.progress, "seed": self.options.seed})

    def _load(self):
        folder = self.options.folder
        if not (folder / "checkpoint.pt").exists():
            return
        saved, resume = (torch.load(folder / name, map_location=self.device) for name in ("checkpoint.pt", "resume.pt"))
        self.model.load_state_dict(saved["weights"])
        self.progress = saved["progress"]
        # A run that ended between the two writes goes on from what it exports, with a fresh mean and momentum.
        if resume["step"] == self.progress["step"]:
            self.model.load_state_dict(resume["weights"])
            self.average.load_state_dict(resume["average"])
            self.optimizer.load_state(resume["optimizer"])


def _write(path, state):
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").rename(path)


def _optimizer(model, dtype, workers):
    matrices = [pair for layer in model.layers for pair in ((layer.qkv, 3), (layer.out, 1), (layer.gate_up, 2), (layer.down, 1))]
    inside = {id(parameter) for parameter, _ in matrices}
    others = [parameter for parameter in model.parameters() if id(parameter) not in inside]
    # Low, because a step has some 400 targets only.
    return Optimizer(matrices, others, matrix_rate=0.008, other_rate=0.002, dtype=dtype, workers=workers)


def _rate(step, steps):
    """Share of the full learning rate: it rises for 100 steps and falls to a tenth from then on. At that rate the weights go on moving
    about the best ones, so that their mean is worth taking."""
    return min(step / 100, max(0.1, 1 - step / steps))


def _train(rank, options):
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    with Workers(rank, options.workers, options.folder) as workers:
        Training(options, workers).run()


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in {"steps": 11600, "seed": 1, "workers": 2, "width": 192, "layers": 6, "heads": 4, "feed-forward": 384, "check-every": 500, "minutes": 100_000,
                          "step-tokens": 4096, "batch-tokens": 4096, "held-out": 300, "tokenizer-conversations": 6000}.items():  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--folder", type=Path, default=None, help="where checkpoints are kept")
    options = parser.parse_args()
    if options.heads < 3 or options.layers < 2:
        parser.error("a model needs 3 heads and 2 layers: so many heads of a layer, and that layer before the last, are shown where to look")
    options.folder = options.folder or training_folder("svc-chat-tiny")
    options.folder.mkdir(parents=True, exist_ok=True)
    if (options.folder / "checkpoint.pt").exists() and not (options.folder / "resume.pt").exists():
        why = "an older recipe made it, or it is a copy"
        parser.error(f"{options.folder} has a checkpoint.pt but no resume.pt, with which a run goes on: {why}; name another --folder")
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
        # Where the workers meet; what a killed run left there names processes that are gone.
        (options.folder / "workers").unlink(missing_ok=True)
        torch.multiprocessing.spawn(_train, (options,), options.workers)


if __name__ == "__main__":
    main()
