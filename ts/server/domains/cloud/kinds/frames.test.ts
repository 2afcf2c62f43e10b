/** Frames of each kind become the same records, whatever the pieces in which their bytes come. */
import t from 'tap';
import { anthropicDialect } from '../../../../../test/providers/anthropic.ts';
import { bedrockDialect } from '../../../../../test/providers/bedrock.ts';
import { geminiDialect } from '../../../../../test/providers/gemini.ts';
import { ollamaDialect } from '../../../../../test/providers/ollama.ts';
import { openAiDialect } from '../../../../../test/providers/openai.ts';
import type { Dialect } from '../../../../../test/providers/provider-server.ts';
import { AwsFrames } from '../answers/aws-frames.ts';
import { framingOf } from '../answers/framing.ts';
import { KINDS } from '../kinds.ts';
import type { ChatCall } from './chat-call.ts';
import type { KindName, ProviderRecord } from './kind.ts';

const DIALECTS: Record<KindName, Dialect> = {
  openai: openAiDialect,
  azure: openAiDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
  bedrock: bedrockDialect,
  ollama: ollamaDialect,
};
const SAID = {
  reasoning: 'Grübeln …',
  signature: 'c2lnbmVk',
  texts: ['Grüße', ' "an"', ' alle 🙂\n'],
  calls: [
    { id: 'call_0', name: 'look', arguments: '{"q":"ä"}' },
    { id: 'call_1', name: 'stop', arguments: '{}' },
  ],
  finish: 'tool_calls',
  tokens: { prompt: 20, cached: 5, written: 0, completion: 9, reasoning: 2 },
} as const;

for (const [name, dialect] of Object.entries(DIALECTS)) {
  const kind = KINDS[name as KindName];
  const { before, texts, usage, end } = dialect.frames(SAID, { path: '', body: { model: 'm' } });
  const bytes = Buffer.concat([...before, ...texts, ...usage, ...end].map((frame) => Buffer.from(frame)));
  const read = (pieces: readonly Uint8Array[]): ProviderRecord[] => {
    const framing = framingOf(kind.framing, () => new AwsFrames());
    const reader = kind.reader({ n: 1 } as ChatCall);
    return pieces.flatMap((piece) => framing.push(piece)).flatMap((frame) => reader.push(frame));
  };

  t.test(`${name}: the same records come out wherever the bytes are cut`, async (t) => {
    const whole = read([bytes]);
    const said = (kind: 'content' | 'reasoning' | 'arguments') =>
      whole.map((record) => (record.kind === kind ? record.text : '')).join('');
    t.equal(said('content'), SAID.texts.join(''));
    t.equal(said('reasoning'), SAID.reasoning);
    t.equal(said('arguments'), '{"q":"ä"}{}');
    t.match(whole.at(-1), { kind: 'end' });
    t.match(
      whole.findLast((record) => record.kind === 'finish'),
      { reason: 'tool_calls' },
    );
    const expected = JSON.stringify(whole);
    const differing: number[] = [];
    for (let at = 1; at < bytes.length; at++)
      if (JSON.stringify(read([bytes.subarray(0, at), bytes.subarray(at)])) !== expected) differing.push(at);
    t.strictSame(differing, []);
    t.equal(JSON.stringify(read([...bytes].map((byte) => Uint8Array.of(byte)))), expected, 'byte by byte');
  });
}
