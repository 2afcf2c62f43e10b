/** The addon in worker threads: loaded in several at once, ended in the middle of work, closed in every order. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type GenerationHandler, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

const path = await randomModel({ arch: 'llama', type: 'q8_0' });
const worker = new URL('generating-worker.ts', import.meta.url);
const options = { nParallel: 2, nCtx: 512, nThreads: 1 };
const text = { kind: 'text', text: 'Once upon a time' } as const;
const silent: GenerationHandler = { onContent() {}, onFinish() {}, onDone() {}, onError() {} };

t.test('four workers generate the same text as the main thread', async (t) => {
  const model = await LlamaModel.load({ path });
  const engine = await model.createEngine(options);
  const expected = (await complete(engine, { prompt: text, maxTokens: 12 })).tokens;
  const workers = Array.from({ length: 4 }, () => new Worker(worker, { workerData: { path, options, maxTokens: 12 } }));
  const answers = await Promise.all(
    workers.map(async (worker) => {
      for await (const [message] of onMessages(worker)) if (Array.isArray(message)) return message;
      return [];
    }),
  );
  for (const answer of answers) t.strictSame(answer, expected);
  await Promise.all(workers.map((worker) => worker.terminate()));
  await engine.close();
  await model.close();
});

t.test('workers are ended while they load, decode, embed and tokenise', async (t) => {
  for (const phase of ['start', 'loaded', 'token', 'embedding', 'tokenising']) {
    const workers = Array.from({ length: 2 }, () => new Worker(worker, { workerData: { path, options, maxTokens: 400, phase } }));
    await Promise.all(
      workers.map(async (worker) => {
        for await (const [message] of onMessages(worker)) if (message === phase) break;
        await worker.terminate();
      }),
    );
    t.pass(`ended at ${phase}`);
  }
  const model = await LlamaModel.load({ path });
  const engine = await model.createEngine(options);
  t.equal((await complete(engine, { prompt: text, maxTokens: 4 })).tokens.length, 4, 'the main thread goes on');
  await engine.close();
  await model.close();
});

t.test('close is idempotent, and ends running jobs', async (t) => {
  const model = await LlamaModel.load({ path });
  const engine = await model.createEngine(options);
  const ended = new Promise<string>((resolve) => {
    const handler: GenerationHandler = {
      ...silent,
      onStart: () => void engine.close(),
      onDone: () => resolve('done'),
      onError: ({ code }) => resolve(code),
    };
    engine.submit({ tenant: 'test', prompt: text, maxTokens: 400, sampling: { ignoreEos: true } }, handler);
  });
  t.equal(await ended, 'closed', 'the job hears of it');
  await Promise.all([engine.close(), engine.close()]);
  await engine.close();
  await Promise.all([model.close(), model.close()]);
});

t.test('after close, every call is refused', async (t) => {
  const model = await LlamaModel.load({ path });
  const engine = await model.createEngine(options);
  const embedder = await model.createEmbedder({ nThreads: 1 });
  await engine.close();
  await embedder.close();
  t.throws(() => engine.submit({ tenant: 'test', prompt: text }, silent), { name: 'NativeError', code: 'closed' });
  engine.cancel(1);
  engine.pause(1);
  engine.resume(1);
  await t.rejects(async () => embedder.embed(['text'], { tenant: 'test' }), { name: 'NativeError', code: 'closed' });
  await model.close();
  await t.rejects(async () => model.tokenize('text'), { name: 'NativeError', code: 'closed' });
  await t.rejects(async () => model.createEngine(options), { name: 'NativeError', code: 'closed' });
});

t.test('an engine outlives the model object that made it', async (t) => {
  const model = await LlamaModel.load({ path });
  const engine = await model.createEngine(options);
  await model.close();
  t.equal((await complete(engine, { prompt: text, maxTokens: 4 })).tokens.length, 4);
  await engine.close();
});

t.test('a load that is aborted says so, and the next one works', async (t) => {
  const aborter = new AbortController();
  const load = LlamaModel.load({ path, mmap: false }, { signal: aborter.signal, onProgress: () => aborter.abort() });
  const outcome = await load.then(
    (model) => model.close().then(() => 'loaded before the abort arrived'),
    (error: { code: string }) => error.code,
  );
  t.match(outcome, /^(load_aborted|loaded before the abort arrived)$/);
  aborter.abort();
  await t.rejects(LlamaModel.load({ path }, { signal: aborter.signal }), { name: 'AbortError' });
  await (await LlamaModel.load({ path })).close();
});

async function* onMessages(worker: Worker): AsyncGenerator<unknown[]> {
  const failed = once(worker, 'error').then(([error]) => {
    throw error;
  });
  failed.catch(() => {});
  for (;;) yield (await Promise.race([once(worker, 'message'), failed])) as unknown[];
}
