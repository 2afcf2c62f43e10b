/** Text and files that come as bytes, whole or in pieces, are what they are as strings. */
import { MessageChannel } from 'node:worker_threads';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { LlamaModel, type QueuedBytes, stageBytes } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
const engine = await model.createEngine({ nCtx: 512, nParallel: 2 });
t.teardown(async () => {
  await engine.close();
  await model.close();
});

const messagesJson = JSON.stringify([{ role: 'user', content: 'Grüße an Ωmega' }]);
const bytes = Buffer.from(messagesJson);

function queued(pieces: readonly Uint8Array[]): QueuedBytes {
  const { port1, port2 } = new MessageChannel();
  for (const piece of pieces) port1.postMessage(piece);
  return { sizeBytes: pieces.reduce((sum, { length }) => sum + length, 0), port: port2 };
}

t.test('a chat is answered alike whichever way its messages come', async (t) => {
  const expected = await complete(engine, { prompt: { kind: 'chat', messagesJson }, maxTokens: 8 });
  const ways = {
    bytes,
    staged: await stageBytes(bytes),
    queued: await stageBytes(queued([bytes.subarray(0, 5), bytes.subarray(5, 6), bytes.subarray(6)])),
  };
  for (const [way, text] of Object.entries(ways)) {
    const { tokens } = await complete(engine, { prompt: { kind: 'chat', messagesJson: text }, maxTokens: 8 });
    t.strictSame(tokens, expected.tokens, way);
  }
  t.equal(await model.countTokens({ kind: 'chat', messagesJson: bytes }), expected.usage.nPromptTokens);
});

t.test('megabytes in pieces are tokenised as they are in one', async (t) => {
  const text = 'ein Wort und noch eines '.repeat(60_000);
  t.strictSame(await model.tokenize(await stageBytes(Buffer.from(text))), await model.tokenize(text));
});

t.test('staged bytes are used once, and whole', async (t) => {
  const staged = await stageBytes(bytes);
  await complete(engine, { prompt: { kind: 'chat', messagesJson: staged }, maxTokens: 1 });
  await t.rejects(complete(engine, { prompt: { kind: 'chat', messagesJson: staged }, maxTokens: 1 }), {
    code: 'invalid_argument',
  });
  const short = { ...queued([bytes.subarray(1)]), sizeBytes: bytes.length };
  const prompt = { kind: 'chat', messagesJson: await stageBytes(short) } as const;
  await t.rejects(async () => complete(engine, { prompt, maxTokens: 1 }), { code: 'invalid_argument' });
  t.throws(() => staged.append(bytes), { code: 'invalid_argument' });
});

t.test('text of users that cannot fit is refused before it is rendered, and what templates drop is not counted', async (t) => {
  const chat = (content: string) =>
    complete(engine, { prompt: { kind: 'chat', messagesJson: JSON.stringify([{ role: 'user', content }]) }, maxTokens: 1 });
  await t.rejects(chat('Wort '.repeat(2_000_000)), { code: 'context_length_exceeded', message: /maximum context length/ });
  await t.rejects(chat(' '.repeat(2_000_000)), { code: 'context_length_exceeded' });
  t.equal((await chat(`Hi${' '.repeat(8)}`)).finish, 'length');
});
