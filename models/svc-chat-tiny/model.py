"""The transformer that llama.cpp calls `llama`: RMSNorm, rotary positions, SwiGLU, tied embeddings, biases on queries and keys.

Weights are float32; products run in bfloat16, which AVX512-BF16 and tensor cores multiply several times faster. Rotary pairs are
(i, i + half) here, because contiguous halves are quicker; export.py reorders them into llama.cpp's (2i, 2i + 1).
"""
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from sources import CITED, COPIED, DECIDED, MENTION, NAME, NUMBER, THING, VALUE
from torch import nn

# (layer from the end, head). What a value is called and belongs to is found first; then where else that is mentioned, and the number of
# the passage; then the value.
_POINTING_HEADS = {NAME: (-4, 0), THING: (-4, 1), VALUE: (-4, 2), MENTION: (-3, 0), NUMBER: (-3, 1), COPIED: (-2, 0), DECIDED: (-2, 1), CITED: (-2, 2)}


@dataclass
class Shape:
    n_vocab: int = 4096
    n_embd: int = 192
    n_layer: int = 6
    n_head: int = 4
    n_ff: int = 384
    eps: float = 1e-5

    @property
    def head_size(self):
        return self.n_embd // self.n_head

    @property
    def rotary_speeds(self):
        """How far each of a head's rotary pairs turns from one token to the next, in radians, (head_size / 2). The first ones tell how far
        away something is; the others do not turn, so that what a head looks for is found as well 500 tokens back as 5."""
        half = self.head_size // 2
        turning = torch.tensor((2.0, 1.0, 0.4, 0.16, 0.06, 0.025, 0.01, 0.004))[:half]
        return F.pad(turning, (0, half - len(turning)))


class _Norm(torch.autograd.Function):
    """RMSNorm without its gain, with a backward of few passes over memory."""

    @staticmethod
    def forward(ctx, x, eps):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
        y = x * scale
        ctx.save_for_backward(y, scale)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, scale = ctx.saved_tensors
        return (grad - y * (grad * y).mean(-1, keepdim=True)) * scale, None


class Layer(nn.Module):
    def __init__(self, shape):
        super().__init__()
        d, ff = shape.n_embd, shape.n_ff
        self.shape = shape
        self.attn_norm = nn.Parameter(torch.ones(d))
        self.qkv = nn.Parameter(torch.empty(3 * d, d))
        self.qk_bias = nn.Parameter(torch.zeros(2 * d))
        self.out = nn.Parameter(torch.empty(d, d))
        self.ffn_norm = nn.Parameter(torch.ones(d))
        self.gate_up = nn.Parameter(torch.empty(2 * ff, d))
        self.down = nn.Parameter(torch.empty(d, ff))

    def forward(self, x, rope, mask, dtype):
        x = x + self._attend((_Norm.apply(x, self.shape.eps) * self.attn_norm).to(dtype), rope, mask, dtype)
        h = (_Norm.apply(x, self.shape.eps) * self.ffn_norm).to(dtype)
        gate, up = (h @ self.gate_up.to(dtype).t()).chunk(2, -1)
        return x + (F.silu(gate) * up) @ self.down.to(dtype).t()

    def _attend(self, h, rope, mask, dtype):
        n, t, d = h.shape
        heads, size = self.shape.n_head, self.shape.head_size
        qkv = h @ self.qkv.to(dtype).t()
        qk = (qkv[..., : 2 * d] + self.qk_bias.to(dtype)).view(n, t, 2 * heads, size)
        v = qkv[..., 2 * d :].reshape(n, t, heads, size).transpose(1, 2)
        qk = _rotate(qk, *rope).transpose(1, 2)
        q, k = qk[:, :heads], qk[:, heads:]
        self.pointing = q, k
        if q.is_cuda and hasattr(F, "scaled_dot_product_attention"):  # from PyTorch 2 on
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            mixed = _mix(q * size**-0.5, k.transpose(-1, -2), v, mask)
        return mixed.transpose(1, 2).reshape(n, t, d) @ self.out.to(dtype).t()


def _mix(q, k, v, mask, block=128):
    """Causal attention, a block of queries at a time: what lies behind all of a block's queries is not computed only to be masked."""
    mixed = []
    for start in range(0, q.shape[2], block):
        end = min(start + block, q.shape[2])
        scores = torch.matmul(q[:, :, start:end], k[..., :end]).add_(mask[start:end, :end])
        mixed.append(torch.matmul(torch.softmax(scores, -1), v[:, :, :end]))
    return torch.cat(mixed, 2)


def _rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.empty(shape.n_vocab, shape.n_embd))
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.n_layer))
        self.norm = nn.Parameter(torch.ones(shape.n_embd))
        self._caches = {}

    def forward(self, tokens, dtype=torch.float32):
        """Hidden states before the output matrix, (n, t, n_embd)."""
        rope, mask = self._positions(tokens.shape[1], tokens.device, dtype)
        x = F.embedding(tokens, self.embedding) * self.shape.n_embd**0.5
        for layer in self.layers:
            x = layer(x, rope, mask, dtype)
        return _Norm.apply(x, self.shape.eps) * self.norm

    def logits(self, hidden, dtype=torch.float32):
        return (hidden.to(dtype) @ self.embedding.to(dtype).t()).float()

    def loss(self, tokens, targets, *pointers, dtype, n_targets):
        """Loss over the targets that are not -1, and over where the pointing heads look, divided by `n_targets`. Logits are computed for
        those targets alone: most tokens are not an answer's. `pointers`: those of `sources.pointers`."""
        wanted = (targets >= 0).view(-1).nonzero().squeeze(1)
        hidden = self(tokens, dtype).view(-1, self.shape.n_embd)[wanted]
        said = F.cross_entropy(self.logits(hidden, dtype), targets.view(-1)[wanted], reduction="sum")
        looks = sum(F.cross_entropy(*self.looks(row, wanted, dtype), reduction="sum") for row, wanted in enumerate(pointers))
        return (said + looks) / n_targets

    def looks(self, row, pointers, dtype):
        """Of the last forward pass: the attention scores of a pointing head at each position that has a pointer, (pointers, t), and
        the pointers, (pointers)."""
        layer, head = _POINTING_HEADS[row]
        sequence, position = (pointers >= 0).nonzero(as_tuple=True)
        q, k = (x[:, head] for x in self.layers[max(layer, -len(self.layers))].pointing)
        _, mask = self._positions(pointers.shape[1], pointers.device, dtype)
        scores = torch.matmul(k[sequence], q[sequence, position].unsqueeze(-1)).squeeze(-1) * self.shape.head_size**-0.5 + mask[position]
        return scores.float(), pointers[sequence, position]

    def _positions(self, length, device, dtype):
        key = (length, device, dtype)
        if key not in self._caches:
            angle = torch.arange(length, dtype=torch.float32)[:, None] * self.shape.rotary_speeds
            rope = tuple(f(angle)[:, None, :].to(device, dtype) for f in (torch.cos, torch.sin))
            mask = torch.full((length, length), float("-inf")).triu(1).to(device, dtype)
            self._caches[key] = (rope, mask)
        return self._caches[key]


def initialise(model, generator=None):
    """Random weights with a bent for copying, which a model that had to discover it would spend most of its training on: heads of the
    first layers look 1, 2 or 3 tokens back or at what is near, and all others look for what resembles the token that looks (queries
    and keys begin alike; Trockman and Kolter 2023, https://arxiv.org/abs/2305.09828)."""
    shape = model.shape
    with torch.no_grad():
        model.embedding.normal_(0, shape.n_embd**-0.5, generator=generator)
        for i, layer in enumerate(model.layers):
            for weight in (layer.qkv, layer.gate_up):
                weight.normal_(0, shape.n_embd**-0.5, generator=generator)
            for weight in (layer.out, layer.down):
                weight.normal_(0, (weight.shape[1] * 2 * shape.n_layer) ** -0.5, generator=generator)
            layer.qkv[shape.n_embd : 2 * shape.n_embd] = layer.qkv[: shape.n_embd]
            if i in _FIRST_LOOKS:
                layer.out *= 3  # what the first looks find is to be seen beside the token itself
            for head, look in enumerate(_FIRST_LOOKS.get(i, ())[: shape.n_head]):
                look(layer, shape, head)


def _back(offset):
    """Biases of a head's query and key whose product, after rotation, is greatest `offset` tokens back."""

    def look(layer, shape, head):
        speed = shape.rotary_speeds
        turns = (speed > 0).float()
        # A query at position p is turned by p, a key at p - offset by p - offset: the query's bias is turned back by the difference.
        query = torch.cat((turns * torch.cos(offset * speed), -torch.sin(offset * speed)))
        _look_by_position(layer, shape, head, 5.0 * query, 5.0 * torch.cat((turns, torch.zeros_like(turns))), 0.1)

    return look


def _near(reach):
    """The same for a product that falls over about `reach` tokens. What the head looks for among those is left to its weights."""

    def look(layer, shape, head):
        speed = shape.rotary_speeds
        bias = 4.0 * torch.cat(((speed > 0) & (speed < 1.5 / reach), torch.zeros_like(speed))).float()
        _look_by_position(layer, shape, head, bias, bias, 0.5)

    return look


def _look_by_position(layer, shape, head, query, key, share):
    """`share`: what the weights keep of their strength."""
    rows = slice(head * shape.head_size, (head + 1) * shape.head_size)
    keys = slice(rows.start + shape.n_embd, rows.stop + shape.n_embd)
    layer.qk_bias[rows], layer.qk_bias[keys] = query, key
    layer.qkv[rows] *= share
    layer.qkv[keys] *= share


_FIRST_LOOKS = {0: (_back(1), _back(2), _back(3), _near(8)), 1: (_back(1), _back(2), _near(16), _near(50)), 2: (_near(16), _near(50), _near(100))}
