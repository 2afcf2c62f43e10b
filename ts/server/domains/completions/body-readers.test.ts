import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { run } from '../../../workers/read-inference-body.ts';
import { joinBytes } from '../../platform/http/body/body-collector.ts';
import { BodyReader } from '../../platform/http/body/body-reader.ts';
import { refusalOf } from '../../platform/http/body/body-refusal.ts';
import type { QueuedBytes } from '../../platform/http/body/queued-bytes.ts';
import type { ReadBodyResult } from '../../platform/http/body/read-body-task.ts';
import { type BodyReaderName, bodyReaders } from './body-readers.ts';
import { completionRoutes } from './completions-module.ts';

const image = `data:image/png;base64,${Buffer.from('pixels').toString('base64')}`;
const content = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constant([
    { type: 'text', text: 'Hi' },
    { type: 'image_url', image_url: { url: image } },
  ]),
  fc.jsonValue(),
);
const message = fc.record({
  role: fc.constantFrom('user', 'system', 'assistant', 'tool', 'x'),
  content,
  tool_call_id: fc.string(),
});
const messages = fc.array(message, { maxLength: 3 });
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const model = fc.constant('m');

/** Bodies that are mostly right, each with members that are mostly wrong. */
const bodies: Record<BodyReaderName, fc.Arbitrary<object>> = {
  chat: fc.record({ model, messages, tools: fc.constantFrom(undefined, [tool]) }),
  responses: fc.record({ model, input: fc.oneof(fc.string(), messages), instructions: fc.string() }),
  messages: fc.record({ model, messages, max_tokens: fc.nat(9), system: fc.string() }),
  countTokens: fc.record({ model, messages }),
  embeddings: fc.record({
    model,
    input: fc.oneof(fc.string(), fc.array(fc.string()), fc.array(fc.nat()), fc.array(fc.array(fc.nat()))),
  }),
  rerank: fc.record({ model, query: fc.string(), documents: fc.array(fc.string()), return_documents: fc.boolean() }),
  tokenize: fc.record({ content: fc.string() }),
  detokenize: fc.record({ tokens: fc.array(fc.nat()) }),
};

const wrong = (name: BodyReaderName) => {
  const members = Object.keys((bodyReaders[name].schema as { properties: object }).properties);
  return fc.dictionary(fc.constantFrom(...members, '__proto__', 'other'), fc.jsonValue(), { maxKeys: 2 });
};

/** With an own member of any name, as JSON.parse makes it. */
function textOf(body: object, more: object): string {
  const entries = [...Object.entries(body), ...Object.entries(more)].filter(([, value]) => value !== undefined);
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
}

function inline(name: BodyReaderName, bytes: Uint8Array): unknown {
  const { schema, read } = bodyReaders[name];
  try {
    return new BodyReader(schema, 'free', { read } as ConstructorParameters<typeof BodyReader>[2]).read(bytes);
  } catch (error) {
    return { refusal: refusalOf(error) ?? error };
  }
}

/** The task's own function, and a clone as the way between threads makes it. */
function threaded(name: BodyReaderName, bytes: Uint8Array): unknown {
  const sent = run({ reader: name, bytes: { port: undefined, last: new Uint8Array(bytes) } });
  const result = structuredClone(sent.transferredValue, { transfer: [...sent.buffers] }) as ReadBodyResult;
  return result.ok ? result.value : { refusal: result.refusal };
}

/** Text that moves as bytes is text again. */
function unpacked(value: unknown, like: unknown): unknown {
  if (typeof like === 'string' && typeof value === 'object' && value !== null) {
    return Buffer.from(
      value instanceof Uint8Array ? value : joinBytes({ port: (value as QueuedBytes).port, last: new Uint8Array() }),
    ).toString();
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const known = (like ?? {}) as Record<string, unknown>;
  const entries = Object.entries(value).map(([name, each]) => [name, unpacked(each, known[name])] as const);
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

/** Buffers arrive as plain Uint8Arrays; a half surrogate is no text for the engine either way. */
function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (value instanceof Uint8Array) return [...value];
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [name, plain(each)] as const);
  return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
}

for (const name of Object.keys(bodies) as BodyReaderName[]) {
  t.test(`${name}: a body that is read in a thread gives what it gives inline`, async (t) => {
    fc.assert(
      fc.property(bodies[name], wrong(name), (body, more) => {
        const bytes = Buffer.from(textOf(body, more));
        const expected = inline(name, bytes);
        t.strictSame(plain(unpacked(threaded(name, bytes), expected)), plain(expected));
      }),
      { numRuns: iterations(60, 3_000) },
    );
  });
}

t.test('megabytes of text and of tokens arrive whole', async (t) => {
  const text = 'grün '.repeat(1_000_000);
  const tokens = Array.from({ length: 500_000 }, (_, index) => index);
  for (const [name, body] of [
    ['chat', { model: 'm', messages: [{ role: 'user', content: text }] }],
    ['embeddings', { model: 'm', input: [text, 'short', 'shorter'] }],
    ['embeddings', { model: 'm', input: [tokens, [1, 2], [3]] }],
    ['detokenize', { tokens }],
  ] as const) {
    const bytes = Buffer.from(JSON.stringify(body));
    const expected = inline(name, bytes);
    t.strictSame(plain(unpacked(threaded(name, bytes), expected)), plain(expected), name);
  }
});

t.test('what a Responses answer repeats is bounded, and what is sent is not', async (t) => {
  const long = 'x'.repeat(1_100_000);
  const body = (more: object) => Buffer.from(JSON.stringify({ model: 'm', input: 'Hi', ...more }));
  t.match(inline('responses', body({ instructions: long })), { refusal: { code: 'invalid_request', param: 'instructions' } });
  t.match(inline('responses', body({ input: long, instructions: 'Be brief' })), { request: { model: 'm' } });
});

t.test('documents that the answer repeats are bounded', async (t) => {
  const documents = Array.from({ length: 5 }, () => 'x'.repeat(1_000_000));
  const body = (more: object) => Buffer.from(JSON.stringify({ model: 'm', query: 'q', documents, ...more }));
  t.match(inline('rerank', body({ return_documents: true })), { refusal: { param: 'return_documents' } });
  t.match(inline('rerank', body({})), { query: 'q' });
});

t.test('a sentence quotes little of what was sent', async (t) => {
  const schema = { pattern: `(${'a'.repeat(100_000)}` };
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], json_schema: schema };
  const { request } = inline('chat', Buffer.from(JSON.stringify(body))) as { request: { schemaRefusal: { sentence: string } } };
  t.match(request.schemaRefusal.sentence, /pattern/);
  t.ok(request.schemaRefusal.sentence.length < 2_100);
});

t.test('a worker thread finds the reader that a route names', async (t) => {
  for (const [name, reader] of Object.entries(bodyReaders)) t.equal(reader.name, name);
  const routes = completionRoutes({} as Parameters<typeof completionRoutes>[0], 'test');
  const named = routes.flatMap(({ reading }) => (reading === undefined ? [] : [reading.thread.reader]));
  t.strictSame([...new Set(named)].sort(), Object.keys(bodyReaders).sort());
});
