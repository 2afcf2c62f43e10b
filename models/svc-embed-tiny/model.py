"""The encoder as llama.cpp's architecture "bert" computes it, with mean pooling (src/models/bert.cpp)."""
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from construction import neighbour_head, position_table, token_table
from shape import Shape

SHARPNESS = 800.0  # of the heads that look at neighbours
SMALL = 0.02


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        width = shape.n_embd
        self.n_head = shape.n_head
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.attention_norm, self.output_norm = nn.LayerNorm(width, eps=1e-5), nn.LayerNorm(width, eps=1e-5)
        self.up, self.down = nn.Linear(width, shape.n_ff), nn.Linear(shape.n_ff, width)

    def forward(self, x, mask):
        x = self.attention_norm(x + self.output(self.attend(x, mask)))
        return self.output_norm(x + self.down(F.gelu(self.up(x))))

    def attend(self, x, mask):
        batch, length, width = x.shape
        query, key, value = (part(x).view(batch, length, self.n_head, -1).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = query @ key.transpose(2, 3) / math.sqrt(width // self.n_head)
        weights = scores.masked_fill(~mask[:, None, None, :], -1e9).softmax(-1)
        return (weights @ value).transpose(1, 2).reshape(batch, length, width)


class Encoder(nn.Module):
    def __init__(self, tokens, shape: Shape, seed: int):
        super().__init__()
        torch.manual_seed(seed)
        self.shape = shape
        places, waves = position_table(shape)
        self.tokens = nn.Embedding.from_pretrained(torch.tensor(token_table(tokens, shape, seed)), freeze=False, sparse=True)
        self.register_buffer('places', torch.tensor(places))
        self.norm = nn.LayerNorm(shape.n_embd, eps=1e-5)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.n_layer))
        self.register_buffer('kept', (torch.arange(shape.n_embd) < shape.n_content).float())
        self._start_as_bag_of_words(waves)

    def forward(self, ids, mask, n_layer=None):
        """Vectors of length 1, one a text; of the first layers alone when told so."""
        x = self.norm(self.tokens(ids) + self.places[:ids.shape[1]])
        for layer in self.layers[:n_layer]:
            x = layer(x, mask)
        weights = mask.float() / mask.sum(1, keepdim=True)
        return F.normalize((x * weights[:, :, None]).sum(1) * self.kept, dim=1)

    def _start_as_bag_of_words(self, waves):
        """Layers add nothing yet; some heads of each already look at the neighbours."""
        width = self.shape.n_embd // self.shape.n_head
        for layer in self.layers:
            for part in (layer.query, layer.key, layer.value, layer.output, layer.up, layer.down):
                nn.init.normal_(part.weight, std=SMALL)
                nn.init.zeros_(part.bias)
            for weight in (layer.output.weight, layer.down.weight):
                nn.init.zeros_(weight)
            for head, offset in enumerate((-1, 1, -2)):
                rows = slice(head * width, (head + 1) * width)
                query, key = neighbour_head(self.shape, waves, offset, SHARPNESS / self.shape.n_embd)
                layer.query.weight.data[rows], layer.key.weight.data[rows] = torch.tensor(query), torch.tensor(key)


def pad(rows, device='cpu'):
    """(ids, mask) of texts of different lengths."""
    longest = max(map(len, rows))
    ids = np.zeros((len(rows), longest), np.int64)
    mask = np.zeros((len(rows), longest), bool)
    for number, row in enumerate(rows):
        ids[number, :len(row)], mask[number, :len(row)] = row, True
    return torch.tensor(ids, device=device), torch.tensor(mask, device=device)


@torch.no_grad()
def embed(model, tokenizer, texts, at_once=32):
    """Vectors of texts as a numpy array, in their order."""
    device = model.places.device
    rows = [tokenizer.encode(text, model.shape.n_context) for text in texts]
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    vectors = np.zeros((len(rows), model.shape.n_embd), np.float32)
    for start in range(0, len(order), at_once):
        chosen = order[start:start + at_once]
        vectors[chosen] = model(*pad([rows[number] for number in chosen], device)).cpu().numpy()
    return vectors
