/** Entry of the workers in worker.test.ts: says where it is, and keeps the named phase busy until it is terminated. */
import { parentPort, workerData } from 'node:worker_threads';
import { type EngineOptions, LlamaModel } from '../../../ts/server/native/llama.ts';

interface Task {
  path: string;
  options: EngineOptions;
  maxTokens: number;
  phase?: string;
}

const { path, options, maxTokens, phase } = workerData as Task;
const say = (message: unknown) => parentPort?.postMessage(message);

say('start');
const model = await LlamaModel.load({ path });
say('loaded');
if (phase === 'tokenising') await repeat('tokenising', () => model.tokenize('Once upon a time '.repeat(2_000)));
const engine = await model.createEngine(options);
if (phase === 'embedding') {
  const embedder = await model.createEmbedder({ nThreads: 1 });
  await repeat('embedding', () =>
    embedder.embed(
      Array.from({ length: 32 }, (_, i) => `text ${i} `.repeat(40)),
      { tenant: 'test' },
    ),
  );
}
const tokens: number[] = [];
engine.submit(
  { tenant: 'test', prompt: { kind: 'text', text: 'Once upon a time' }, maxTokens, sampling: { temperature: 0 }, topLogprobs: 0 },
  {
    onLogprobs: (_choice, list) => {
      tokens.push(...list.map(({ token }) => token));
      say('token');
    },
    onContent() {},
    onFinish() {},
    onDone: () => say(tokens),
    onError: (error) => {
      throw error;
    },
  },
);

async function repeat(name: string, work: () => Promise<unknown>): Promise<never> {
  for (;;) {
    const pending = [work(), work(), work()];
    say(name);
    await Promise.all(pending);
  }
}
