/** Sequences that are evicted are saved, to memory and from there to disk, and come back when their chat goes on. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { randomModel } from '../../../models/random/fixture.ts';
import { type EngineOptions, type LlamaEngine, LlamaModel } from '../../../ts/server/native/llama.ts';
import { type Completion, complete } from './completion.ts';

const model = await LlamaModel.load({ path: await randomModel({ arch: 'llama' }) });
t.teardown(() => model.close());
const mebibyte = 1024 * 1024;

async function engineOf(t: { teardown(end: () => unknown): unknown }, options: EngineOptions): Promise<LlamaEngine> {
  const engine = await model.createEngine({ nCtx: 2_048, nParallel: 2, ...options });
  t.teardown(() => engine.close());
  return engine;
}

function words(seed: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => 300 + ((seed * 7_919 + i * 104_729) % 20_000));
}

const rest = () => new Promise((resolve) => setTimeout(resolve, 300));

/** The files of a folder, with the times of their last change. */
function filesOf(folder: string): [file: string, mtimeMs: number | undefined][] {
  return readdirSync(folder).map((file) => [file, statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs]);
}

/** The same once nothing has changed for a moment: another thread writes and removes them, when nobody wants its core. */
async function filesAtRest(folder: string): Promise<ReturnType<typeof filesOf>> {
  let files = filesOf(folder);
  for (let i = 0; i < 20; i++) {
    const before = JSON.stringify(files);
    await rest();
    files = filesOf(folder);
    if (JSON.stringify(files) === before) break;
  }
  return files;
}

function say(engine: LlamaEngine, tokens: number[], tenant = 'a'): Promise<Completion> {
  const prompt = { kind: 'tokens', tokens: Int32Array.from(tokens) } as const;
  return complete(engine, { tenant, prompt, maxTokens: 8, sampling: { temperature: 0, ignoreEos: true } });
}

/** Chats take turns, so that each finds its place taken by others. Returns the tokens that were new. */
async function converse(engine: LlamaEngine, nChats: number, nTurns: number): Promise<number> {
  const chats = Array.from({ length: nChats }, (_, chat) => [1, ...words(chat, 200)]);
  let nNew = 0;
  for (let turn = 0; turn < nTurns; turn++) {
    await Promise.all(
      chats.map(async (tokens, chat) => {
        const { tokens: answer } = await say(engine, tokens);
        nNew += turn === 0 ? tokens.length : 30;
        tokens.push(...answer, ...words(1_000 + chat * 10 + turn, 30));
      }),
    );
  }
  return nNew;
}

for (const kvUnified of [true, false]) {
  t.test(`twelve chats on two sequences, KV buffer ${kvUnified ? 'for all' : 'for each'}`, async (t) => {
    const engine = await engineOf(t, { kvUnified, kvOffloadMemoryBytes: 64 * mebibyte });
    const nNew = await converse(engine, 12, 4);
    const stats = engine.stats();
    t.ok(stats.promptTokensTotal <= 1.1 * nNew, `${stats.promptTokensTotal} tokens evaluated for ${nNew} new ones`);
    t.ok(stats.offloadHitsTotal >= 12 && stats.restoredTokensTotal > 12 * 200, 'states came back');
    t.ok(stats.offloadMemoryBytes > 0 && stats.offloadMemoryBytes <= 64 * mebibyte, 'within the memory that it may take');
  });

  t.test(`a restored chat goes on as it would have, KV buffer ${kvUnified ? 'for all' : 'for each'}`, async (t) => {
    // Some kernels add in an order that depends on how many threads there are, and these depend on what else wants cores.
    const alike: EngineOptions = { nParallel: 1, nThreads: 1, kvUnified };
    const restoring = await engineOf(t, { ...alike, kvOffloadMemoryBytes: 64 * mebibyte });
    const keeping = await engineOf(t, alike);
    const first = [1, ...words(1, 300)];
    const { tokens: answer } = await say(keeping, first);
    t.strictSame((await say(restoring, first)).tokens, answer);
    for (let other = 2; other < 6; other++) await say(restoring, [1, ...words(other, 900)]);

    const next = [...first, ...answer, ...words(7, 20)];
    const [expected, restored] = [await say(keeping, next), await say(restoring, next)];
    t.equal(restoring.stats().offloadHitsTotal, 1, 'its state came back');
    t.equal(restored.usage.nCachedTokens, expected.usage.nCachedTokens, 'all of it');
    t.strictSame(restored.tokens, expected.tokens);
  });
}

t.test('another tenant finds nothing, in the cache or among saved states', async (t) => {
  const engine = await engineOf(t, { nParallel: 1, kvOffloadMemoryBytes: 64 * mebibyte });
  const secret = [1, ...words(1, 300)];
  await say(engine, secret, 'a');
  t.equal((await say(engine, secret, 'b')).usage.nCachedTokens, 0, 'while it lies in the cache');
  for (let other = 2; other < 5; other++) await say(engine, [1, ...words(other, 900)], 'b');
  t.equal((await say(engine, secret, 'c')).usage.nCachedTokens, 0, 'when it was saved');
  t.equal((await say(engine, secret, 'a')).usage.nCachedTokens, 300, 'its own tenant does');
});

/** An engine whose memory for saved states is soon full, and whose disk is not. */
function offloadTo(kvOffloadFolder: string) {
  return {
    nCtx: 2_048,
    nParallel: 2,
    kvUnified: false,
    kvOffloadMemoryBytes: 600_000,
    kvOffloadDiskBytes: 64 * mebibyte,
    kvOffloadFolder,
  };
}

t.test('what memory has no room for goes to disk and comes back', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kv-offload-'));
  const engine = await model.createEngine(offloadTo(folder));
  const nNew = await converse(engine, 12, 4);
  const stats = engine.stats();
  t.ok(stats.promptTokensTotal <= 1.5 * nNew, `${stats.promptTokensTotal} tokens evaluated for ${nNew} new ones`);
  t.ok(stats.offloadMemoryBytes <= 600_000 && stats.offloadDiskBytes > 0, 'both are used');
  const [own = ''] = readdirSync(folder);
  const files = await filesAtRest(join(folder, own));
  t.ok(files.length > 0, 'a file for each state');
  t.equal(statSync(join(folder, own)).mode & 0o777, 0o700, 'a folder for this user alone');
  t.ok(
    files.every(([file]) => (statSync(join(folder, own, file)).mode & 0o777) === 0o600),
    'and files too',
  );
  await engine.close();
  t.strictSame(readdirSync(folder), [], 'and nothing is left');
});

t.test('a disk that is smaller than memory comes to rest', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kv-offload-'));
  const engine = await engineOf(t, {
    kvUnified: false,
    kvOffloadMemoryBytes: 1_500_000,
    kvOffloadDiskBytes: 400_000,
    kvOffloadFolder: folder,
  });
  await converse(engine, 12, 4);
  t.ok(engine.stats().offloadMemoryBytes > 750_000, 'states are written ahead of need');
  const own = join(folder, readdirSync(folder)[0] ?? '');
  const before = await filesAtRest(own);
  await rest();
  t.ok(before.length > 0, `${before.length} files`);
  t.strictSame(filesOf(own), before, 'nobody asks for anything, and nothing is written');
});

t.test('a full disk is told once; states then stay in memory', { skip: noMounts() }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kv-offload-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', folder]);
  t.teardown(() => execFileSync('umount', [folder]));
  const notices: string[] = [];
  const engine = await model.createEngine(offloadTo(folder), { onNotice: ({ message }) => notices.push(message) });
  const nNew = await converse(engine, 12, 4);
  const stats = engine.stats();
  t.equal(notices.length, 1);
  t.match(notices[0], /could not be written to .*: No space left on device\. .* in memory alone/);
  t.ok(stats.offloadMemoryBytes <= 600_000 && stats.promptTokensTotal >= nNew, 'and all chats went on');
  await engine.close();
  t.strictSame(readdirSync(folder), [], 'nothing is left');
});

/** Why no small disk can be made here, or false. */
function noMounts(): string | false {
  return process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0 ? false : 'needs root, to mount a small disk';
}

t.test('a damaged file is a miss', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kv-offload-'));
  const engine = await engineOf(t, {
    nParallel: 1,
    nThreads: 1,
    kvUnified: false,
    kvOffloadMemoryBytes: 600_000,
    kvOffloadDiskBytes: 64 * mebibyte,
    kvOffloadFolder: folder,
  });
  const first = [1, ...words(1, 300)];
  const { tokens: expected } = await say(engine, first);
  for (let other = 2; other < 12; other++) await say(engine, [1, ...words(other, 300)]);
  const own = join(folder, readdirSync(folder)[0] ?? '');
  for (const [file] of await filesAtRest(own)) {
    const bytes = readFileSync(join(own, file));
    bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
    writeFileSync(join(own, file), bytes);
  }
  const again = await say(engine, first);
  t.ok(again.usage.nCachedTokens <= 1, 'nothing of it is taken over');
  t.strictSame(again.tokens, expected);
});

t.test('without a folder that can be written there is no disk tier, and all else goes on', async (t) => {
  const engine = await engineOf(t, {
    nParallel: 1,
    kvOffloadMemoryBytes: 600_000,
    kvOffloadDiskBytes: mebibyte,
    kvOffloadFolder: '/proc/none',
  });
  await converse(engine, 6, 2);
  t.equal(engine.stats().offloadDiskBytes, 0);
  t.ok(engine.stats().offloadMemoryBytes > 0);
});
