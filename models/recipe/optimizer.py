"""Muon for the matrices inside layers (momentum, made orthogonal by Newton-Schulz iterations) and Adam for everything else.

Muon: Jordan et al. 2024, https://kellerjordan.github.io/posts/muon. It needs fewer steps than Adam alone, and steps are what a CPU has
few of.
"""
import torch

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


class Optimizer:
    """`matrices`: [(parameter, parts)], each made of `parts` matrices stacked by rows; `others`: parameters. `dtype`: what matrices are
    multiplied in. `workers`: the `Workers` that train together, each with an optimizer of its own."""

    def __init__(self, matrices, others, matrix_rate, other_rate, dtype, workers, weight_decay=0.02):
        self._matrices, self._matrix_rate, self._dtype, self._workers, self._decay = matrices, matrix_rate, dtype, workers, weight_decay
        self._momentum = [torch.zeros_like(p) for p, _ in matrices]
        self._adam = torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.98), weight_decay=0.0)
        self._other_rate = other_rate

    @torch.no_grad()
    def step(self, factor):
        """Moves the parameters, at `factor` times the learning rates, and clears their gradients."""
        for group in self._adam.param_groups:
            group["lr"] = self._other_rate * factor
        self._adam.step()
        self._adam.zero_grad(set_to_none=True)
        rate = self._matrix_rate * factor
        parts = [part for (parameter, n), momentum in zip(self._matrices, self._momentum) for part in self._directions(parameter, n, momentum)]
        directions = self._workers.spread(lambda matrices: orthogonal(matrices, self._dtype), [direction for _, direction in parts])
        for (target, _), direction in zip(parts, directions):
            target.mul_(1 - rate * self._decay).add_(direction, alpha=-rate * max(1, target.shape[0] / target.shape[1]) ** 0.5)
        for parameter, _ in self._matrices:
            parameter.grad = None

    def _directions(self, parameter, n, momentum):
        """Each of a parameter's matrices with its gradient, smoothed by Nesterov momentum."""
        momentum.mul_(0.95).add_(parameter.grad, alpha=0.05)
        return zip(parameter.chunk(n), parameter.grad.lerp(momentum, 0.95).chunk(n))

    def state(self):
        return {"momentum": self._momentum, "adam": self._adam.state_dict()}

    def load_state(self, state):
        self._adam.load_state_dict(state["adam"])
        for mine, saved in zip(self._momentum, state["momentum"]):
            mine.copy_(saved)


def orthogonal(matrices, dtype, steps=5):
    """For each matrix nearly the orthogonal one next to it. Matrices of one shape are multiplied together: that is quicker."""
    flat = [m.t() if m.shape[0] > m.shape[1] else m for m in matrices]
    results = {}
    for shape in {m.shape for m in flat}:
        places = [i for i, m in enumerate(flat) if m.shape == shape]
        x = torch.stack([flat[i] for i in places]).to(dtype)
        x = x / (x.float().norm(dim=(1, 2), keepdim=True) + 1e-7).to(x.dtype)
        for _ in range(steps):
            square = x @ x.transpose(1, 2)
            x = _COEFFICIENTS[0] * x + (_COEFFICIENTS[1] * square + _COEFFICIENTS[2] * square @ square) @ x
        results.update(zip(places, x.unbind()))
    made = [results[i].to(m.dtype) for i, m in enumerate(matrices)]
    return [x.t() if m.shape[0] > m.shape[1] else x for x, m in zip(made, matrices)]
