/** Lines as a collection has them once their hours are over: six hours, three classes, packed; a rare word for each search, and a common one. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SeededRandom } from '../../models/random/seeded-random.ts';
import { FrameWriter } from '../../ts/server/domains/logs/collection/packed-frames.ts';
import type { LogLine } from '../../ts/server/domains/logs/index/log-line.ts';
import type { SearchRequest } from '../../ts/server/domains/logs/index/search.ts';
import { LIMIT, type LogLoad } from './log-load.ts';

const BEGIN = Date.parse('2026-11-28T00:00:00Z');
const HOUR_MS = 3_600_000;
const N_HOURS = 6;
const CLASSES = ['web', 'auth', 'other'] as const;
export const COMMON_WORD = 'session';

interface MadeLines {
  /** The copy. */
  folder: string;
  rareWords: string[];
  rawBytes: number;
  packedBytes: number;
}

/** Lines that are made before are taken. */
export async function makeLines(folder: string, { nLines, searches }: LogLoad, seed: number): Promise<MadeLines> {
  const known = await readFile(join(folder, 'made.json'), 'utf8').catch(() => undefined);
  if (known !== undefined) return JSON.parse(known) as MadeLines;
  const random = new SeededRandom(seed);
  const writers = new Map<string, FrameWriter>();
  const rareWords: string[] = [];
  const every = Math.floor(nLines / searches);
  let rawBytes = 0;
  for (let i = 0; i < nLines; i++) {
    const line = madeLine(i, BEGIN + Math.floor((i * N_HOURS * HOUR_MS) / nLines), random);
    if (i % every === 0 && rareWords.length < searches) {
      rareWords.push(`needle${i.toString(36)}x${Math.floor(random.next() * 1e9).toString(36)}`);
      line.msg += ` ${rareWords.at(-1)}`;
    }
    const text = JSON.stringify(line);
    rawBytes += text.length + 1;
    const id = `${line.class}/${line.rcvd.slice(0, 13)}`;
    let writer = writers.get(id);
    if (writer === undefined) {
      await mkdir(join(folder, line.class), { recursive: true });
      writer = await FrameWriter.open(join(folder, `${id}.jsonl.zst`));
      writers.set(id, writer);
    }
    await writer.add(text);
  }
  for (const writer of writers.values()) await writer.end();
  const sizes = await Promise.all([...writers.keys()].map((id) => stat(join(folder, `${id}.jsonl.zst`))));
  const made = { folder, rareWords, rawBytes, packedBytes: sizes.reduce((sum, { size }) => sum + size, 0) };
  await writeFile(join(folder, 'made.json'), JSON.stringify(made));
  return made;
}

function madeLine(i: number, atMs: number, random: SeededRandom): LogLine {
  const below = (n: number): number => Math.floor(random.next() * n);
  const address = `10.${below(4)}.${below(200)}.${below(250)}`;
  const kind = below(10);
  const [className, app, msg] =
    kind < 6
      ? [
          'web',
          'nginx',
          `${address} - - "GET /shop/item/${below(50_000)}?ref=${below(1e6).toString(36)} HTTP/1.1" ${below(20) === 0 ? 500 : 200} ${below(90_000)} rt=0.${below(999)}`,
        ]
      : kind < 8
        ? [
            'auth',
            'sshd',
            `pam_unix(sshd:session): ${COMMON_WORD} ${below(2) === 0 ? 'opened' : 'closed'} for user u${below(3_000)} from ${address} port ${below(60_000)}`,
          ]
        : [
            'other',
            'kernel',
            `[${below(1e6)}.${below(1e6)}] eth0: packet ${below(1e9).toString(16)} of ${address} queue ${below(64)} was delayed by ${below(9_000)} us`,
          ];
  const time = new Date(atMs).toISOString().replace('Z', `${String(below(1000)).padStart(3, '0')}+00:00`);
  return {
    uuid: `${i.toString(16)}${below(2 ** 30)
      .toString(16)
      .padStart(8, '0')}`
      .toUpperCase()
      .padStart(32, '0'),
    ts: time,
    rcvd: time,
    host: `host${below(80)}`,
    fromhost_ip: `10.9.${below(4)}.${below(80)}`,
    app: app as string,
    severity: below(30) === 0 ? 3 : 6,
    facility: className === 'auth' ? 10 : 1,
    class: className as (typeof CLASSES)[number],
    msg: msg as string,
  };
}

/** The newest lines of all six hours. */
export const EVERYTHING: SearchRequest = {
  fromMs: BEGIN,
  toMs: BEGIN + N_HOURS * HOUR_MS,
  classes: undefined,
  limit: LIMIT,
  order: 'desc',
  cursor: undefined,
  nBuckets: 0,
  senders: undefined,
  timeLimitMs: 60_000,
};

/** Ten minutes of one class, somewhere. */
export function tenMinutes(random: SeededRandom): SearchRequest {
  const fromMs = BEGIN + Math.floor(random.next() * (N_HOURS * HOUR_MS - 600_000));
  return { ...EVERYTHING, classes: ['auth'], fromMs, toMs: fromMs + 600_000 };
}
