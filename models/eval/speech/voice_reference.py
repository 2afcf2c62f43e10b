"""Prints the probability of speech in each frame of 512 samples, by ONNX Runtime: `voice_reference.py silero_vad_v5.onnx samples.f32`."""

import sys

import numpy
import onnxruntime

FRAME = 512
BEFORE = 64

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=['CPUExecutionProvider'])
samples = numpy.fromfile(sys.argv[2], dtype='<f4')
state = numpy.zeros((2, 1, 128), dtype=numpy.float32)
rate = numpy.array(16_000, dtype=numpy.int64)
before = numpy.zeros(BEFORE, dtype=numpy.float32)
for at in range(0, len(samples), FRAME):
    frame = samples[at:at + FRAME]
    frame = numpy.pad(frame, (0, FRAME - len(frame)))
    window = numpy.concatenate([before, frame])[None, :]
    probability, state = session.run(None, {'input': window, 'state': state, 'sr': rate})
    before = frame[-BEFORE:]
    print(float(probability[0, 0]))
