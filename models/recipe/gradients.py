"""Several processes that train one model: each takes a share of a step's batches, and all add up their gradients."""
from datetime import timedelta

import torch
import torch.distributed as distributed

# A run may be stopped for hours and go on.
_PATIENCE = timedelta(days=30)


class Workers:
    def __init__(self, rank, count, folder):
        self._rank, self._count, self._meeting = rank, count, folder / "workers"

    @property
    def is_first(self):
        return self._rank == 0

    def __enter__(self):
        if self._count > 1:
            meeting = f"file://{self._meeting.resolve()}"
            distributed.init_process_group("gloo", init_method=meeting, rank=self._rank, world_size=self._count, timeout=_PATIENCE)
        return self

    def __exit__(self, *_):
        if self._count > 1:
            distributed.destroy_process_group()

    def share(self, batches, effort):
        """This process's batches: the greatest `effort(batch)` first, each goes to the process that has the least to do."""
        shares, totals = [[] for _ in range(self._count)], [0] * self._count
        for batch in sorted(batches, key=effort, reverse=True):
            idlest = totals.index(min(totals))
            shares[idlest].append(batch)
            totals[idlest] += effort(batch)
        return shares[self._rank]

    def agree(self, decision):
        """The first process's decision, in every process."""
        if self._count == 1:
            return decision
        shared = torch.tensor([float(decision)])
        distributed.broadcast(shared, 0)
        return bool(shared.item())

    def sum_gradients(self, parameters, loss):
        """Makes every process hold the sum of all gradients, and returns the sum of the losses."""
        if self._count == 1:
            return loss
        found = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        loss, *gradients = _sum([torch.tensor([loss]), *found])
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient
        return loss.item()

    def spread(self, work, matrices):
        """`work(matrices)`, which makes a matrix of each, of its shape and type: every process does a part, and has all of it in the end."""
        if self._count == 1:
            return work(matrices)
        made = [torch.zeros_like(matrix) for matrix in matrices]
        made[self._rank :: self._count] = work(matrices[self._rank :: self._count])
        return _sum(made)


def _sum(tensors):
    """Each tensor's sum over all processes."""
    flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
    distributed.all_reduce(flat)
    return [part.view(tensor.shape) for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]))]
