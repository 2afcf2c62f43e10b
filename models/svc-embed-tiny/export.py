"""
Writes the model file: python3 export.py --run FOLDER --out FILE [--table TYPE]

FOLDER is that of train.py. Matrices are Q8_0; the token table, two thirds of the weights, is Q5_0: a random direction loses little by it.
"""
import argparse
import sys
from pathlib import Path

import numpy as np
import torch

from model import Encoder
from shape import Shape
from vocabulary import CLS, MASK, PAD, SEP, UNK, build_vocabulary

sys.path.append(str(Path(__file__).resolve().parents[1]))
from recipe.gguf_file import close_writer, gguf_module, open_writer  # noqa: E402

NAME = 'svc-embed-tiny'
DESCRIPTION = 'A demonstration model: near are texts with the same words, whatever their form, in English and German.'


def main():
    arguments = read_arguments()
    model, tokens, step = load(arguments.run)
    write(Path(arguments.out), model, tokens, arguments.table)
    print(f'{arguments.out}: {Path(arguments.out).stat().st_size / 1e6:.1f} MB, {len(tokens)} tokens, after {step} steps')


def load(run):
    """(model, tokens, step) of the last checkpoint of a run."""
    state = torch.load(Path(run) / 'checkpoint.pt', map_location='cpu')
    tokens = build_vocabulary(state['seed'])
    model = Encoder(tokens, Shape(), state['seed'])
    model.load_state_dict(state['model'])
    return model, tokens, state['step']


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--run', required=True)
    parser.add_argument('--out', required=True)
    parser.add_argument('--table', default='Q5_0', choices=('F32', 'F16', 'Q8_0', 'Q5_0', 'Q4_0'))
    return parser.parse_args()


def write(path, model, tokens, table_type='Q5_0'):
    gguf = gguf_module()
    writer = open_writer(path, 'bert')
    _describe(writer, gguf, model.shape)
    _add_tokenizer(writer, gguf, tokens)
    for name, tensor in tensors(model):
        data = tensor.detach().float().numpy()
        kind = 'F32' if data.ndim == 1 else table_type if name == 'token_embd.weight' else 'Q8_0'
        quantised = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(name, gguf.quants.quantize(np.ascontiguousarray(data), quantised), raw_dtype=quantised)
    close_writer(writer)


def tensors(model):
    """(name in the file, tensor). The last norm takes the steering components away."""
    yield 'token_embd.weight', model.tokens.weight
    yield 'position_embd.weight', model.places
    yield from _norm('token_embd_norm', model.norm)
    for number, layer in enumerate(model.layers):
        kept = model.kept if number == model.shape.n_layer - 1 else torch.ones_like(model.kept)
        names = {'attn_q': layer.query, 'attn_k': layer.key, 'attn_v': layer.value, 'attn_output': layer.output, 'ffn_up': layer.up, 'ffn_down': layer.down}
        for name, part in names.items():
            yield f'blk.{number}.{name}.weight', part.weight
            yield f'blk.{number}.{name}.bias', part.bias
        yield from _norm(f'blk.{number}.attn_output_norm', layer.attention_norm)
        yield from _norm(f'blk.{number}.layer_output_norm', layer.output_norm, kept)


def _norm(name, norm, kept=1):
    yield f'{name}.weight', norm.weight * kept
    yield f'{name}.bias', norm.bias * kept


def _describe(writer, gguf, shape):
    writer.add_name(NAME)
    writer.add_description(DESCRIPTION)
    writer.add_bool('svc.demonstration', True)
    writer.add_license('apache-2.0')
    writer.add_languages(['en', 'de'])
    writer.add_context_length(shape.n_context)
    writer.add_embedding_length(shape.n_embd)
    writer.add_block_count(shape.n_layer)
    writer.add_feed_forward_length(shape.n_ff)
    writer.add_head_count(shape.n_head)
    writer.add_layer_norm_eps(1e-5)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)


def _add_tokenizer(writer, gguf, tokens):
    types = {'special': gguf.TokenType.CONTROL}
    writer.add_tokenizer_model('bert')
    writer.add_tokenizer_pre('default')
    writer.add_token_list([token.text for token in tokens])
    writer.add_token_types([gguf.TokenType.UNKNOWN if number == UNK else types.get(token.kind, gguf.TokenType.NORMAL) for number, token in enumerate(tokens)])
    writer.add_token_type_count(1)
    writer.add_normalizer_lowercase(True)
    writer.add_bos_token_id(CLS)
    writer.add_sep_token_id(SEP)
    writer.add_unk_token_id(UNK)
    writer.add_pad_token_id(PAD)
    writer.add_mask_token_id(MASK)


if __name__ == '__main__':
    main()
