/** A chat goes to the node that is expected to answer it first: few prompts are read twice, no node has more to do than the others, and a digest says nothing of a prompt. */
import fc from 'fast-check';
import t from 'tap';
import { SeededRandom } from '../../../../../models/random/seeded-random.ts';
import type { ModelCard } from '../../inference/index.ts';
import { encode } from './frames.ts';
import { Peer, Peers } from './peers.ts';
import { BLOCK_TOKENS, blocksOf, PrefixDigest } from './prefixes.ts';
import { readLoad, writtenLoad } from './work.ts';

const MODEL = 'm';
const chat = (text: string) => ({ kind: 'chat', messagesJson: text }) as const;

t.test('a prompt that goes on has the blocks of its beginning, and another tenant has none of them', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 5_000 }), fc.string({ maxLength: 5_000 }), async (begin, end) => {
      const [before, after] = [blocksOf('a', chat(begin)), blocksOf('a', chat(begin + end))];
      return before.every((hash, i) => after[i] === hash);
    }),
    { numRuns: 50 },
  );
  const text = 'x'.repeat(3_000);
  const digest = new PrefixDigest();
  digest.add(blocksOf('a', chat(text)));
  t.equal(digest.nKnown(blocksOf('a', chat(`${text}${'y'.repeat(600)}`))), 5);
  t.equal(digest.nKnown(blocksOf('b', chat(text))), 0);
  t.equal(digest.nKnown(blocksOf('a', { ...chat(text), toolsJson: '[{}]' })), 0);
  t.equal(digest.nKnown(blocksOf('a', chat(`z${text}`))), 0);
});

t.test('a digest is 8 KiB at most, and loses the oldest, the ends of prompts first', async (t) => {
  const digest = new PrefixDigest();
  for (let i = 0; i < 100; i++) digest.add(blocksOf('a', chat(`${i} ${'x'.repeat(20_000)}`)));
  t.ok(encode(digest.hashes).length <= 8 * 1024);
  const nKnown = (i: number) => digest.nKnown(blocksOf('a', chat(`${i} ${'x'.repeat(20_000)}`)));
  t.equal(nKnown(99), 39);
  t.equal(nKnown(0), 0);
  const partly = Array.from({ length: 100 }, (_, i) => nKnown(i)).filter((n) => n > 0 && n < 39);
  t.ok(partly.length <= 1);
  const copy = new PrefixDigest();
  copy.replace(digest.hashes);
  t.strictSame(copy.hashes, digest.hashes);
});

t.test('a load is read as it was written, and nothing else is', async (t) => {
  const load = { nRunning: 3, nQueuedTokens: 1_200, tokensPerSecond: 480 };
  t.strictSame(readLoad(writtenLoad(load)), load);
  for (const text of [undefined, '', '1 2', '1 2 x', '-1 2 3', '1 2 3 4', `${'9'.repeat(20)} 1 1`])
    t.equal(readLoad(text), undefined);
});

/** A node that reads prompts one after the other, and has the beginnings of as many as its memory holds. */
interface Worker {
  readonly cache: PrefixDigest;
  freeAt: number;
  nAnswers: number;
  nRead: number;
}

type Choose = (blocks: Int32Array, key: string, workers: readonly Worker[], now: number) => number;

/** Chats of eight turns by many tenants, each with a beginning of its own: what the nodes read, and how even it was. */
function work(nWorkers: number, choose: Choose, seed: number): { nRead: number; unevenness: number } {
  const random = new SeededRandom(seed);
  const workers: Worker[] = Array.from({ length: nWorkers }, () => ({
    cache: new PrefixDigest(6_000 / nWorkers),
    freeAt: 0,
    nAnswers: 0,
    nRead: 0,
  }));
  const words = (n: number) =>
    Array.from({ length: n / 8 }, () =>
      random
        .integer(2 ** 31)
        .toString(36)
        .padEnd(7),
    ).join(' ');
  const systems = Array.from({ length: 16 }, () => words(2_400));
  const turns: { at: number; chat: number; turn: number }[] = [];
  const chats = Array.from({ length: 64 }, (_, i) => {
    let at = random.next() * 120_000;
    for (let turn = 0; turn < 8; turn++) {
      turns.push({ at, chat: i, turn });
      at += 4_000 + random.exponential(1 / 10_000);
    }
    return { tenant: `t${i % 16}`, text: systems[i % 16] as string };
  });
  for (const { at, chat: i } of turns.toSorted((a, b) => a.at - b.at)) {
    const one = chats[i] as { tenant: string; text: string };
    one.text += words(700);
    const blocks = blocksOf(one.tenant, chat(one.text));
    const worker = workers[choose(blocks, `${i}`, workers, at)] as Worker;
    const nMissing = (blocks.length - worker.cache.nKnown(blocks)) * BLOCK_TOKENS;
    worker.cache.add(blocks);
    worker.freeAt = Math.max(at, worker.freeAt) + nMissing / 2;
    worker.nAnswers += 1;
    worker.nRead += nMissing;
    one.text += words(900);
  }
  const nRead = workers.reduce((sum, worker) => sum + worker.nRead, 0);
  const busiest = Math.max(...workers.map((worker) => worker.nAnswers));
  return { nRead, unevenness: (busiest * nWorkers) / turns.length };
}

/** The real choice, with what a node says of itself. */
function byExpectedTime(): Choose {
  let peers: Peer[] | undefined;
  const all = new Peers();
  return (blocks, key, workers, now) => {
    peers ??= workers.map((_, i) => {
      const facts = { name: '', address: `n${i}:1`, isReady: true, isMember: false, modules: [], certificates: [] };
      const peer = new Peer({ ...facts, id: `n${i}` }, { cert: '', key: '', fingerprint: '', expiresAt: 0 }, 1);
      peer.isAnswering = true;
      peer.cards = new Map([[MODEL, { id: MODEL } as ModelCard]]);
      return peer;
    });
    all.replace(peers);
    for (const [i, { cache, freeAt }] of workers.entries()) {
      const peer = peers[i] as Peer;
      const nQueuedTokens = Math.max(0, freeAt - now) * 2;
      peer.reported = { nRunning: nQueuedTokens > 0 ? 1 : 0, nQueuedTokens, tokensPerSecond: 2_000 };
      peer.prefixes.replace(cache.hashes);
    }
    return peers.indexOf(all.choose(MODEL, key, new Set(), blocks) as Peer);
  };
}

const roundRobin = (): Choose => {
  let next = 0;
  return (_, __, workers) => next++ % workers.length;
};

/** The published policy of SGLang's router: the longest match where it is half of the prompt, unless the load is uneven. */
const cacheAware = (): Choose => {
  return (blocks, _, workers, now) => {
    const loads = workers.map(({ freeAt }) => Math.max(0, freeAt - now) / 200);
    const [least, most] = [Math.min(...loads), Math.max(...loads)];
    if (most - least > 32 && most > 1.5 * least) return loads.indexOf(least);
    const known = workers.map(({ cache }) => cache.nKnown(blocks));
    const best = Math.max(...known);
    if (best > blocks.length / 2) return known.indexOf(best);
    const sizes = workers.map(({ cache }) => cache.hashes.length);
    return sizes.indexOf(Math.min(...sizes));
  };
};

t.test('four nodes read little more than one with all the memory, and have alike to do', async (t) => {
  for (const seed of [7, 8, 9]) {
    const whole = work(1, () => 0, seed);
    const ours = work(4, byExpectedTime(), seed);
    const inTurn = work(4, roundRobin(), seed);
    const published = work(4, cacheAware(), seed);
    const shown = ({ nRead, unevenness }: typeof ours) =>
      `${(nRead / whole.nRead).toFixed(2)} x read, ${unevenness.toFixed(2)} x even`;
    t.comment(`expected time ${shown(ours)}; round robin ${shown(inTurn)}; cache-aware ${shown(published)}`);
    t.ok(ours.nRead <= 1.3 * whole.nRead, shown(ours));
    t.ok(ours.unevenness <= 1.2, shown(ours));
    t.ok(ours.nRead < inTurn.nRead && ours.unevenness < published.unevenness);
  }
});
