/** Streams of one model go on while another is loaded and unloaded. */
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import type { RandomModelOptions } from '../models/random/random-model.ts';
import { post } from './http.ts';
import { startServer } from './server.ts';

/** The second takes a while to load. */
const models = {
  streaming: { arch: 'llama' },
  coming: { arch: 'llama', shape: 'mid' },
} satisfies Record<string, RandomModelOptions>;
const nRounds = 7;
const nParts = 4;

/** Streams one answer after another; tells of each piece. */
async function stream(url: string, onPiece: () => void, signal: AbortSignal): Promise<void> {
  const body = {
    model: 'streaming',
    stream: true,
    max_tokens: 4_000,
    ignore_eos: true,
    messages: [{ role: 'user', content: 'Hi' }],
  };
  while (!signal.aborted) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body), signal });
    for await (const _ of response.body ?? []) onPiece();
  }
}

/** How many pieces came in each part of the time between begin and end. */
function spread(pieces: readonly number[], begin: number, end: number): number[] {
  const counts = new Array<number>(nParts).fill(0);
  for (const at of pieces) {
    const part = Math.floor(((at - begin) / (end - begin)) * nParts);
    if (counts[part] !== undefined) counts[part]++;
  }
  return counts;
}

t.test(`a stream goes on through ${nRounds} loads and unloads of another model`, async (t) => {
  const server = await startServer(t, { models, env: { SVC_INFERENCE_PARALLEL: '2', SVC_INFERENCE_CTX: '8192' } });
  const pieces: number[] = [];
  const aborter = new AbortController();
  const streaming = stream(server.url, () => pieces.push(performance.now()), aborter.signal);
  const control = async (what: string) => {
    const begin = performance.now();
    t.equal((await post(`${server.url}/api/v1/inference/models/coming/${what}`, {})).status, 200);
    return [begin, performance.now()] as const;
  };
  while (pieces.length === 0) await Promise.race([streaming, setTimeout(10)]);
  const spreads: number[][] = [];
  for (let round = 0; round < nRounds; round++) {
    const [begin] = await control('load');
    const [, end] = await control('unload');
    spreads.push(spread(pieces, begin, end));
  }
  aborter.abort();
  await t.rejects(streaming, { name: 'AbortError' });
  // One hiccup of the machine is none of a load's.
  const nSteady = spreads.filter((counts) => counts.every((count) => count > 0)).length;
  t.ok(nSteady > nRounds / 2, `in each quarter of a round: ${spreads.map((counts) => counts.join(' ')).join(', ')}`);
});
