import t from 'tap';
import { awsMessage } from '../../../../../test/providers/bedrock.ts';
import type { ProviderFrame } from '../kinds/kind.ts';
import { AwsFrames } from './aws-frames.ts';
import { type Framing, framingOf } from './framing.ts';

const newFraming = (kind: 'sse' | 'lines' | 'aws') => framingOf(kind, () => new AwsFrames());

function read(framing: Framing, pieces: readonly Uint8Array[]): ProviderFrame[] {
  return pieces.flatMap((piece) => framing.push(piece));
}

const events = [
  ': a comment\r\n\r\n',
  'event: first\r\ndata: {"text":"Grüße 🙂"}\r\n\r\n',
  'data: one\ndata:two\n\n',
  'id: 7\nretry: 5\n\n',
  'data: [DONE]\r\r',
].join('');
const lines = '{"a":"Grüße 🙂"}\n\r\n{"b":2}\n';
const aws = Buffer.concat([
  awsMessage({ ':message-type': 'event', ':event-type': 'delta' }, '{"text":"Grüße 🙂"}'),
  awsMessage({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '{"message":"slow"}'),
]);

for (const [kind, bytes, expected] of [
  [
    'sse',
    Buffer.from(events),
    [
      ['first', '{"text":"Grüße 🙂"}'],
      ['', 'one\ntwo'],
      ['', '[DONE]'],
    ],
  ],
  [
    'lines',
    Buffer.from(lines),
    [
      ['', '{"a":"Grüße 🙂"}'],
      ['', '{"b":2}'],
    ],
  ],
  [
    'aws',
    aws,
    [
      ['delta', '{"text":"Grüße 🙂"}'],
      ['exception:throttlingException', '{"message":"slow"}'],
    ],
  ],
] as const) {
  t.test(`${kind}: the same frames come out wherever the bytes are cut`, async (t) => {
    const whole = read(newFraming(kind), [bytes]);
    t.strictSame(
      whole.map(({ event, data }) => [event, data]),
      expected,
    );
    const differing: number[] = [];
    for (let at = 1; at < bytes.length; at++) {
      const cut = read(newFraming(kind), [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) differing.push(at);
    }
    t.strictSame(differing, []);
    t.strictSame(
      read(
        newFraming(kind),
        [...bytes].map((byte) => Uint8Array.of(byte)),
      ),
      whole,
      'byte by byte',
    );
  });
}

t.test('a frame that never ends is refused before it fills the memory', async (t) => {
  const piece = Buffer.alloc(1024 * 1024, 'x');
  for (const kind of ['sse', 'lines'] as const) {
    const framing = newFraming(kind);
    t.throws(() => {
      for (let i = 0; i < 100; i++) framing.push(piece);
    }, /too long/);
  }
  const many = newFraming('sse');
  t.throws(() => {
    for (let i = 0; i < 100; i++) many.push(Buffer.from(`data: ${'x'.repeat(1024 * 1024)}\n`));
  }, /too long/);
});

t.test('a long frame is read once, in however small pieces it comes', async (t) => {
  // Reading what is there with each piece again would take hours.
  const text = 'x'.repeat(7 * 1024 * 1024);
  const frames: ['sse' | 'lines' | 'aws', Buffer][] = [
    ['sse', Buffer.from(`data: ${text}\n\n`)],
    ['lines', Buffer.from(`${text}\n`)],
    ['aws', awsMessage({ ':message-type': 'event', ':event-type': 'delta' }, text)],
  ];
  for (const [kind, bytes] of frames) {
    const framing = newFraming(kind);
    const read: ProviderFrame[] = [];
    for (let at = 0; at < bytes.length; at += 16) read.push(...framing.push(bytes.subarray(at, at + 16)));
    t.equal(read.length, 1, kind);
    t.ok(read[0]?.data === text, `${kind}: the text is whole`);
  }
});

t.test('a message whose bytes were changed is refused', async (t) => {
  for (const at of [1, 9, 14, aws.length - 1]) {
    const changed = Buffer.from(aws);
    changed[at] = (changed[at] ?? 0) ^ 1;
    t.throws(() => read(newFraming('aws'), [changed]), { name: 'BrokenFrame' }, `byte ${at}`);
  }
});
