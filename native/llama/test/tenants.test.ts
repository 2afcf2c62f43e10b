/** What one tenant does tells another nothing, and takes nothing from it. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type GenerationHandler, type GenerationJob, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { complete } from './completion.ts';

type Job = Omit<GenerationJob, 'tenant'>;

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
t.teardown(() => model.close());
const mebibyte = 1024 * 1024;

function words(seed: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => 300 + ((seed * 7_919 + i * 104_729) % 20_000));
}

function prompt(seed: number, count: number): Job['prompt'] {
  return { kind: 'tokens', tokens: Int32Array.from([1, ...words(seed, count)]) };
}

t.test('a job of nobody’s is refused', async (t) => {
  const engine = await model.createEngine({ nCtx: 256, nParallel: 1 });
  t.teardown(() => engine.close());
  const handler: GenerationHandler = { onContent() {}, onFinish() {}, onDone() {}, onError: () => t.fail('it was queued') };
  for (const tenant of ['', undefined, 'a\0b', 7]) {
    const job = { tenant, prompt: { kind: 'text', text: 'x' } } as unknown as GenerationJob;
    t.throws(() => engine.submit(job, handler), { code: 'invalid_argument', message: /'tenant'/ }, String(tenant));
  }
  const encoder = await LlamaModel.load({ path: await randomModel({ arch: 'bert' }) });
  t.teardown(() => encoder.close());
  const embedder = await encoder.createEmbedder({});
  t.teardown(() => embedder.close());
  await t.rejects(embedder.embed(['x'], { tenant: '' }), { code: 'invalid_argument', message: /'tenant'/ });
});

for (const where of ['memory', 'disk'] as const) {
  t.test(`a tenant with little saved in ${where} loses none of it to one that saves much`, async (t) => {
    const kvOffloadFolder = mkdtempSync(join(tmpdir(), 'svc-kv-'));
    const capacity = { kvOffloadMemoryBytes: where === 'memory' ? 8 * mebibyte : 2 * mebibyte };
    const disk = where === 'disk' ? { kvOffloadDiskBytes: 6 * mebibyte, kvOffloadFolder } : {};
    const engine = await model.createEngine({ nCtx: 2_048, nParallel: 1, ...capacity, ...disk });
    t.teardown(() => engine.close());
    const say = (tenant: string, seed: number, count: number) =>
      complete(engine, { tenant, prompt: prompt(seed, count), maxTokens: 1 });
    await say('quiet', 1, 300);
    // Each takes the place of the one before it, whose state is saved.
    for (let chat = 2; chat < 40; chat++) await say('loud', chat, 900);
    const { offloadMemoryBytes, offloadDiskBytes } = engine.stats();
    t.ok(offloadMemoryBytes + offloadDiskBytes > (where === 'memory' ? 5 : 4) * mebibyte, 'the offload is full');
    t.equal((await say('quiet', 1, 300)).usage.nCachedTokens, 300);
  });
}

/** Of equal distributions beyond 4 about once in 16,000 runs (Mann and Whitney, 1947; ties count half). */
function zOfRanks(a: readonly number[], b: readonly number[]): number {
  const u = a.reduce((sum, x) => sum + b.reduce((n, y) => n + (x > y ? 1 : x === y ? 0.5 : 0), 0), 0);
  const spread = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12);
  return (u - (a.length * b.length) / 2) / spread;
}

const suspicious = 4;
const nRounds = 120;
const nWarmUps = 4;

/** Tools, grammars and prompts of the same size and cost, all different. */
const kinds: Record<string, (seed: number) => Job> = {
  prompt: (seed) => ({ prompt: prompt(seed, 400) }),
  grammar: (seed) => ({ prompt: prompt(7, 2), jsonSchema: schema(seed, 120) }),
  tools: (seed) => ({
    prompt: {
      kind: 'chat',
      messagesJson: JSON.stringify([{ role: 'user', content: 'Hi' }]),
      toolsJson: JSON.stringify([
        { type: 'function', function: { name: `tool_${1_000 + seed}`, parameters: JSON.parse(schema(seed, 8)) } },
      ]),
    },
  }),
};

function schema(seed: number, nMembers: number): string {
  const members = Array.from({ length: nMembers }, (_, i) => [`member_${1_000 + seed}_${10 + i}`, { type: 'string' }]);
  return JSON.stringify({ type: 'object', properties: Object.fromEntries(members) });
}

async function timeToFirstToken(engine: LlamaEngine, tenant: string, job: Job): Promise<[ms: number, nCached: number]> {
  const begin = performance.now();
  const { usage } = await complete(engine, { ...job, tenant, maxTokens: 1 });
  return [performance.now() - begin, usage.nCachedTokens];
}

for (const [kind, jobOf] of Object.entries(kinds)) {
  t.test(`whether another tenant used the same ${kind} shows in no count and no time`, async (t) => {
    const engine = await model.createEngine({ nCtx: 2_048, nParallel: 2, nThreads: 1, kvOffloadMemoryBytes: 8 * mebibyte });
    t.teardown(() => engine.close());
    const times: [same: number[], other: number[]] = [[], []];
    const counts: [same: number[], other: number[]] = [[], []];
    for (let round = 0; round < nWarmUps + nRounds; round++) {
      // In an order that has nothing to do with the time of the day.
      const isOther = Number((round * 7) % 4 >= 2);
      await timeToFirstToken(engine, 'a', jobOf(2 * round));
      const [ms, nCached] = await timeToFirstToken(engine, 'b', jobOf(2 * round + isOther));
      // At first, tenant b finds less that it said itself.
      if (round < nWarmUps) continue;
      times[isOther]?.push(ms);
      counts[isOther]?.push(nCached);
    }
    for (const [what, [same, other]] of Object.entries({ cached_tokens: counts, TTFT: times })) {
      const z = zOfRanks(same, other);
      t.ok(Math.abs(z) < suspicious, `${what} of ${same.length} requests and ${other.length} others: z = ${z.toFixed(2)}`);
    }
  });
}

t.test('what a draft model holds of one tenant begins no draft for another', async (t) => {
  const engine = await model.createEngine({ nCtx: 2_048, nParallel: 1, speculation: 'always' }, {}, model);
  t.teardown(() => engine.close());
  const say = async (tenant: string, seed: number) => {
    const sampling = { temperature: 0, ignoreEos: true };
    const job = { tenant, prompt: prompt(seed, 700), maxTokens: 12, draftSource: 'model', sampling } as const;
    return (await complete(engine, job)).usage.nDraftedTokens;
  };
  const drafted: [same: number[], other: number[]] = [[], []];
  for (let round = 0; round < 40; round++) {
    await say('a', 2 * round);
    drafted[round % 2]?.push(await say('b', 2 * round + (round % 2)));
  }
  t.ok(
    drafted.flat().every((n) => n > 0),
    'the draft model drafted',
  );
  t.ok(Math.abs(zOfRanks(...drafted)) < suspicious, `drafted: ${JSON.stringify(drafted)}`);
});
