/** Who waits, who goes first, and who is refused: the engine's queue seen through its door. */
import t, { type Test } from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import {
  type EngineOptions,
  type GenerationJob,
  type LlamaEngine,
  LlamaModel,
  NativeError,
} from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama', shape: 'tiny' }) });
t.teardown(() => model.close());

async function open(t: Test, options: EngineOptions): Promise<LlamaEngine> {
  const engine = await model.createEngine({ nCtx: 8_192, nThreads: 1, ...options });
  t.teardown(() => engine.close());
  return engine;
}

interface Running {
  id: number;
  started: Promise<void>;
  ended: Promise<string>;
}

function submit(engine: LlamaEngine, tenant: string, more: Partial<GenerationJob> = {}): Running {
  let onStart = () => {};
  const started = new Promise<void>((resolve) => {
    onStart = resolve;
  });
  let end: (how: string) => void = () => {};
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  const prompt = { kind: 'tokens', tokens: Int32Array.from([1, 400 + (nSubmitted++ % 5_000), 500, 600]) } as const;
  const id = engine.submit(
    { tenant, prompt, maxTokens: 8, sampling: { temperature: 0, ignoreEos: true }, ...more },
    { onStart, onContent() {}, onFinish() {}, onDone: () => end('done'), onError: ({ code }) => end(code) },
  );
  return { id, started, ended };
}
let nSubmitted = 0;

const endless = { maxTokens: 4_000 };

function refusalOf(engine: LlamaEngine, tenant: string, more: Partial<GenerationJob> = {}): NativeError | undefined {
  try {
    submit(engine, tenant, more);
    return undefined;
  } catch (error) {
    if (error instanceof NativeError) return error;
    throw error;
  }
}

/** A tenant's jobs are prepared in order: when one that is too long has failed, those before it wait for their turn. */
async function allPrepared(engine: LlamaEngine, tenant: string): Promise<void> {
  const tokens = new Int32Array(10_000).fill(400);
  await submit(engine, tenant, { prompt: { kind: 'tokens', tokens } }).ended;
}

t.test('a tenant that runs nothing gets a sequence although another holds all, and nobody loses an answer', async (t) => {
  const engine = await open(t, { nParallel: 2 });
  const flood = Array.from({ length: 6 }, (_, i) => submit(engine, 'flood', { maxTokens: i < 2 ? 2_000 : 8 }));
  await Promise.all(flood.slice(0, 2).map(({ started }) => started));
  const quiet = submit(engine, 'quiet', endless);
  await quiet.started;
  t.equal(engine.stats().nQueued, 4, 'none of the flood had ended');
  engine.cancel(quiet.id);
  t.strictSame(new Set(await Promise.all(flood.map(({ ended }) => ended))), new Set(['done']));
});

t.test('a tenant that runs nothing goes first, also when it was served more', async (t) => {
  const engine = await open(t, { nParallel: 2 });
  for (let i = 0; i < 4; i++) await submit(engine, 'quiet', { maxTokens: 60 }).ended;
  const flood = Array.from({ length: 4 }, () => submit(engine, 'flood', endless));
  await Promise.all(flood.slice(0, 2).map(({ started }) => started));
  const quiet = submit(engine, 'quiet');
  t.equal(await quiet.ended, 'done');
  for (const { id } of flood) engine.cancel(id);
});

t.test('turns go round the tenants, whoever came first', async (t) => {
  const engine = await open(t, { nParallel: 1 });
  const blocker = submit(engine, 'flood', endless);
  await blocker.started;
  const order: string[] = [];
  const note = (name: string, { ended }: Running) => ended.then(() => order.push(name));
  const all = [1, 2, 3, 4].map(() => note('flood', submit(engine, 'flood')));
  all.push(...[1, 2].map(() => note('quiet', submit(engine, 'quiet'))));
  await Promise.all(['flood', 'quiet'].map((tenant) => allPrepared(engine, tenant)));
  engine.cancel(blocker.id);
  await Promise.all(all);
  t.ok(order.indexOf('quiet') < 2 && order.lastIndexOf('quiet') < 4, order.join());
});

t.test('a higher priority goes first', async (t) => {
  const engine = await open(t, { nParallel: 1 });
  const blocker = submit(engine, 'a', endless);
  await blocker.started;
  const order: string[] = [];
  const all = [
    submit(engine, 'a').ended.then(() => order.push('normal')),
    submit(engine, 'a', { priority: 1 }).ended.then(() => order.push('urgent')),
  ];
  await allPrepared(engine, 'a');
  engine.cancel(blocker.id);
  await Promise.all(all);
  t.strictSame(order, ['urgent', 'normal']);
});

t.test('one tenant cannot fill the queue for another, and a cancelled job leaves it at once', async (t) => {
  const engine = await open(t, { nParallel: 1, maxQueuedJobs: 16 });
  const blocker = submit(engine, 'flood', endless);
  await blocker.started;
  const flood: Running[] = [];
  while (refusalOf(engine, 'flood') === undefined && flood.length < 100) flood.push(blocker);
  t.equal(flood.length, 14, 'an eighth is kept for others');
  const quiet = submit(engine, 'quiet', endless);
  t.equal(refusalOf(engine, 'flood')?.code, 'queue_full');
  const place = submit(engine, 'quiet');
  t.equal(refusalOf(engine, 'other')?.code, 'queue_full', 'now it is full for everybody');
  engine.cancel(place.id);
  engine.cancel(quiet.id);
  t.equal(refusalOf(engine, 'other'), undefined);
});

t.test('what would wait too long is refused, with the time that the queue takes by the measured rate', async (t) => {
  const engine = await open(t, { nParallel: 2, maxQueueMs: 60_000 });
  await Promise.all(Array.from({ length: 40 }, () => submit(engine, 'a').ended));
  const blockers = [submit(engine, 'a', endless), submit(engine, 'a', endless)];
  await Promise.all(blockers.map(({ started }) => started));
  const rate = engine.stats().jobsPerSecond;
  t.ok(rate > 0, `${rate} jobs a second`);
  const waiting = Array.from({ length: 300 }, () => submit(engine, 'a'));
  const { jobsPerSecond, nQueued } = engine.stats();
  const waitMs = (1000 * nQueued) / jobsPerSecond;
  const refusal = refusalOf(engine, 'a', { timeoutMs: 1 });
  t.equal(refusal?.code, 'queue_full');
  const told = refusal?.details['retryAfterMs'] ?? 0;
  t.ok(told >= Math.min(100, waitMs) && Math.abs(told - Math.max(100, waitMs)) <= 0.5 * waitMs + 1, `${told} of ${waitMs} ms`);
  t.equal(refusalOf(engine, 'quiet', { timeoutMs: 1_000 }), undefined, 'a tenant with nothing in the queue waits for nobody');
  for (const { id } of [...waiting, ...blockers]) engine.cancel(id);
});

t.test('a deadline passes in the queue too', async (t) => {
  const engine = await open(t, { nParallel: 1 });
  const blocker = submit(engine, 'a', endless);
  await blocker.started;
  t.equal(await submit(engine, 'a', { timeoutMs: 30 }).ended, 'deadline_exceeded');
  t.equal(engine.stats().nQueued, 0);
});

t.test('a client that does not read gives its cells up too', async (t) => {
  const engine = await open(t, { nParallel: 4, nCtx: 512, kvUnified: true, speculation: 'off' });
  const tokens = Int32Array.from({ length: 300 }, (_, i) => 1_000 + i);
  const slow = submit(engine, 'a', { prompt: { kind: 'tokens', tokens }, maxTokens: 150 });
  await slow.started;
  engine.pause(slow.id);
  const others = Array.from({ length: 3 }, () => submit(engine, 'a', { maxTokens: 200 }));
  t.strictSame(await Promise.all(others.map(({ ended }) => ended)), ['done', 'done', 'done']);
  engine.resume(slow.id);
  t.equal(await slow.ended, 'done');
});

t.test('a text counts by its bytes before it is read', async (t) => {
  const engine = await open(t, { nParallel: 1, maxQueuedTokens: 3_000 });
  const blocker = submit(engine, 'b', endless);
  await blocker.started;
  const prompt = { kind: 'text', text: 'word '.repeat(4_000) } as const;
  t.equal(refusalOf(engine, 'a', { prompt }), undefined);
  t.equal(refusalOf(engine, 'a', { prompt })?.code, 'queue_full');
  engine.cancel(blocker.id);
});

t.test('a prompt that is long in preparation holds up no short one', async (t) => {
  const engine = await open(t, { nParallel: 2, maxQueuedTokens: 2 ** 30 });
  // What an assistant said is not counted before the template is rendered, as templates may leave it out.
  const messages = [
    { role: 'assistant', content: 'long story '.repeat(1_000_000) },
    { role: 'user', content: 'Go on.' },
  ];
  const order: string[] = [];
  const note = async (name: string, work: Promise<unknown>): Promise<void> => {
    await work;
    order.push(name);
  };
  const long = submit(engine, 'a', { prompt: { kind: 'chat', messagesJson: JSON.stringify(messages) } });
  const short = [submit(engine, 'a'), submit(engine, 'b')];
  await Promise.all([note('long', long.ended), ...short.map(({ ended }) => note('short', ended))]);
  t.strictSame(order, ['short', 'short', 'long']);
  t.equal(await long.ended, 'context_length_exceeded');
});

t.test('what a job holds beside its text counts too: images for less, biases until it ends', async (t) => {
  const engine = await open(t, { nParallel: 1 });
  const blocker = submit(engine, 'a', endless);
  await blocker.started;
  // Costly jobs of the tenant behind them wait while their grammars are compiled.
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`member${i}`, { type: 'string' }]));
  const slow = ['long '.repeat(20_000), 'long '.repeat(40_000)].map((description) =>
    submit(engine, 'a', { jsonSchema: JSON.stringify({ properties, description }) }),
  );
  const countOf = (more: Partial<GenerationJob>): number => {
    const before = engine.stats().nQueuedTokens;
    submit(engine, 'a', more);
    return engine.stats().nQueuedTokens - before;
  };
  const ids = 4; // as bytes of text
  t.equal(countOf({ media: [{ kind: 'audio', samples: new Uint8Array(256_000) }] }), ids + 1_000);
  t.equal(countOf({ grammar: 'x'.repeat(80_000) }), ids + 20_000);
  const logitBias = Array.from({ length: 1_000 }, (_, token): [number, number] => [token, -1]);
  t.equal(countOf({ logitBias }), ids + 2_000);
  // What was read is let go; a machine that is slow enough refuses the costly jobs as well.
  while (engine.stats().nQueuedTokens > 3 * ids + 2_000) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const { id } of [...slow, blocker]) engine.cancel(id);
});

t.test('a text that cannot fit is refused before it is tokenised', async (t) => {
  const engine = await open(t, { nParallel: 1 });
  const error = await new Promise<NativeError>((resolve, reject) => {
    engine.submit(
      { tenant: 'a', prompt: { kind: 'text', text: 'word '.repeat(1_000_000) } },
      { onContent() {}, onFinish() {}, onDone: () => reject(new Error('it fitted')), onError: resolve },
    );
  });
  t.match(error, { code: 'context_length_exceeded', message: /has at least \d+ tokens.*maximum context length/ });
  const { nPromptTokens = 0, nCtx } = error.details;
  t.ok(nPromptTokens >= engine.limits.nCtxPerJob && nCtx === engine.limits.nCtxPerJob, `${nPromptTokens} of ${nCtx}`);
});

t.test('what a job computed before it gave way is not told as cached', async (t) => {
  const engine = await open(t, { nParallel: 2, kvUnified: true, nBatch: 64, nUbatch: 64 });
  const nTokens = 2_000;
  const flood = [1, 2].map((own) => {
    const tokens = Int32Array.from({ length: nTokens }, (_, i) => 300 + ((own * 7_919 + i * 104_729) % 20_000));
    const sampling = { temperature: 0, ignoreEos: true };
    return complete(engine, { tenant: 'flood', prompt: { kind: 'tokens', tokens }, maxTokens: 200, sampling });
  });
  // One prompt is done then, and the other has begun.
  while (engine.stats().promptTokensTotal < 1.2 * nTokens) await new Promise(setImmediate);
  const quiet = submit(engine, 'quiet', { maxTokens: 100 });
  t.equal(await quiet.ended, 'done');
  const usages = (await Promise.all(flood)).map(({ usage }) => usage);
  t.strictSame(
    usages.map(({ nCachedTokens }) => nCachedTokens),
    [0, 0],
  );
});

t.test('a client that does not read keeps nobody out, and goes on when it reads again', async (t) => {
  const engine = await open(t, { nParallel: 1 });
  const slow = submit(engine, 'a', { maxTokens: 300 });
  await slow.started;
  engine.pause(slow.id);
  t.equal(await submit(engine, 'a').ended, 'done');
  engine.resume(slow.id);
  t.equal(await slow.ended, 'done');
});
