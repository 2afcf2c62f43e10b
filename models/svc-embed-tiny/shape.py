"""Sizes of the model, and how the vector of a token is divided."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    n_embd: int = 384
    n_layer: int = 1
    n_head: int = 6
    n_ff: int = 768
    n_context: int = 1024
    # The last components steer: they say how much the token weighs and where it stands, and never reach the pooled vector.
    n_steering: int = 32

    @property
    def n_content(self):
        return self.n_embd - self.n_steering


# Places among the steering components. Each is a pair of opposite numbers, so that the mean, which a layer norm takes away, stays 0.
BALLAST, BEGINS_WORD, IS_MARK, POSITION = 0, 2, 4, 6
