"""Muon for the matrices inside layers (momentum, made orthogonal by Newton-Schulz iterations) and Adam for everything else.

Muon: Jordan et al. 2024, https://kellerjordan.github.io/posts/muon. It needs fewer steps than Adam alone, and steps are what a CPU has
few of.
"""
import torch

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


class Optimizer:
    """`matrices`: [(parameter, parts)], each made of `parts` matrices stacked by rows; `others`: parameters."""

    def __init__(self, matrices, others, matrix_rate=0.02, other_rate=0.003, weight_decay=0.02):
        self._matrices, self._matrix_rate, self._decay = matrices, matrix_rate, weight_decay
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
        for (parameter, parts), momentum in zip(self._matrices, self._momentum):
            momentum.mul_(0.95).add_(parameter.grad, alpha=0.05)
            update = parameter.grad.lerp(momentum, 0.95)
            parameter.mul_(1 - rate * self._decay)
            for target, part in zip(parameter.chunk(parts), update.chunk(parts)):
                target.add_(orthogonal(part), alpha=-rate * max(1, part.shape[0] / part.shape[1]) ** 0.5)
            parameter.grad = None

    def state(self):
        return {"momentum": self._momentum, "adam": self._adam.state_dict()}

    def load_state(self, state):
        self._adam.load_state_dict(state["adam"])
        for mine, saved in zip(self._momentum, state["momentum"]):
            mine.copy_(saved)


def orthogonal(matrix, steps=5):
    """Nearly the orthogonal matrix next to `matrix`."""
    a, b, c = _COEFFICIENTS
    x = matrix.to(torch.bfloat16)
    x = x / (x.norm() + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.t() if tall else x
    for _ in range(steps):
        square = x @ x.t()
        x = a * x + (b * square + c * square @ square) @ x
    return (x.t() if tall else x).to(matrix.dtype)
