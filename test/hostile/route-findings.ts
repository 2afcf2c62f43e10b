/** Sends the largest requests of each route as a member of a tenant, and says what they do to another tenant and to the memory of the server. */
import { readFileSync } from 'node:fs';
import type { Answer } from '../matrix/client.ts';
import { LAST, type Row, rowsOf } from '../matrix/rows.ts';
import type { HostileServer } from './hostile-server.ts';
import { WORST_CHARACTERS } from './largest-values.ts';
import { Neighbour, p99 } from './neighbour.ts';
import { largestRequests } from './route-requests.ts';

interface RouteFindingsOptions {
  readonly mostBytes: number;
  /** Of the worst characters, each route gets so many, and the next route the ones behind them. */
  readonly nCharacters: number;
  /** Tries every so-manieth route; 1: all. */
  readonly stride: number;
  /** Waits of the neighbour before and beside each route. */
  readonly nWaits: number;
  readonly mostWaitMs?: number;
  /** Part of the names of the routes to try; all by default. */
  readonly includes?: string;
}

interface RouteFinding {
  readonly name: string;
  readonly faults: readonly string[];
  /** Requests that the time of the route left untried. */
  readonly nUntried: number;
  /** How many routes have been tried, this one among them, of how many. */
  readonly place: readonly [nth: number, nRoutes: number];
}

/** A wait above that of the idle server that no route may cause. */
const MOST_WAIT_MS = 250;
/** A machine's own noise passes with another try. */
const TRIES = 3;
const GROWTH = { ratio: 1.2, withinMs: 30_000 };
/** All requests of a try are sent within it, or are left untried: slow routes would hold up all others. */
const TRY_MS = 10_000;
/** An operator has to act first, so there is no time to come back at. */
const NOT_SET_UP = /"error":"(mail_not_configured|no_speech_model|writes_halted)"/;
/** The server reads a text aloud before it calls a telephone, which takes as long as the text has words. */
const READ_ALOUD = new Set(['POST /api/v1/comm/calls/start']);
/** Requests at once. */
const N_CLIENTS = 4;

export async function* routeFindings(hostile: HostileServer, options: RouteFindingsOptions): AsyncGenerator<RouteFinding> {
  const rows = rowsOf(hostile.openapi)
    .filter(({ name }) => !LAST.includes(name) && !isEndless(name) && name.includes(options.includes ?? ''))
    .filter((_, i) => i % options.stride === 0);
  // What the first requests load stays, and is no growth.
  for (const row of rows) await attack(hostile, row, ['a'], 64 * 1024);
  const neighbour = new Neighbour(hostile);
  try {
    const idleMs = p99(await neighbour.take(options.nWaits * 4));
    for (const [i, row] of rows.entries()) {
      const characters = Array.from(
        { length: options.nCharacters },
        (_, k) => WORST_CHARACTERS[(i + k) % WORST_CHARACTERS.length] ?? ' ',
      );
      const found = await findingOf(hostile, neighbour, row, characters, idleMs, options);
      yield { name: row.name, ...found, place: [i + 1, rows.length] };
    }
  } finally {
    await neighbour.stop();
  }
}

/** Ends the sessions of who asks, or follows what never ends. */
function isEndless(name: string): boolean {
  return /^(POST \/api\/v1\/auth\/logout|GET .*\/(events|logs\/stream))$/.test(name);
}

async function findingOf(
  hostile: HostileServer,
  neighbour: Neighbour,
  row: Row,
  characters: readonly string[],
  idleMs: number,
  { mostBytes, nWaits, mostWaitMs = MOST_WAIT_MS }: RouteFindingsOptions,
): Promise<Pick<RouteFinding, 'faults' | 'nUntried'>> {
  const before = rssOf(hostile);
  const faults = new Set<string>();
  let [worstMs, nUntried] = [0, 0];
  for (let i = 0; i < TRIES; i += 1) {
    await neighbour.take(0);
    const attacked = await attack(hostile, row, characters, mostBytes);
    for (const fault of attacked.faults) faults.add(fault);
    nUntried = attacked.nUntried;
    worstMs = p99(await neighbour.take(nWaits));
    if (worstMs <= idleMs + mostWaitMs) break;
  }
  if (worstMs > idleMs + mostWaitMs)
    faults.add(`another tenant waits ${Math.round(worstMs)} ms, ${Math.round(idleMs)} ms beside an idle server`);
  for (const fault of neighbour.faults.splice(0)) faults.add(`another tenant: ${fault}`);
  const after = await restingRss(hostile, before);
  if (after > before * GROWTH.ratio) faults.add(`memory stays at ${mib(after)} after ${mib(before)}`);
  return { faults: [...faults], nUntried };
}

/** Answers that no client may get, however large its request was. */
async function attack(
  hostile: HostileServer,
  row: Row,
  characters: readonly string[],
  mostBytes: number,
): Promise<{ faults: string[]; nUntried: number }> {
  const until = performance.now() + TRY_MS;
  const waiting = characters.flatMap((each) => [...largestRequests(row, hostile.ids, each, mostBytes)].reverse());
  const faults: string[] = [];
  const client = async (): Promise<void> => {
    while (performance.now() < until) {
      const request = waiting.pop();
      if (request === undefined) return;
      const sent = { ...request, headers: { ...hostile.attacker, ...request.headers } };
      const fault = await hostile.client.send(sent).then(answerFault, (error: unknown) => connectionFault(error, row));
      if (fault !== undefined) faults.push(fault);
    }
  };
  await Promise.all(Array.from({ length: N_CLIENTS }, client));
  if (!hostile.server.running) throw new Error(`${row.name} ended the server:\n${hostile.server.log}`);
  return { faults, nUntried: waiting.length };
}

function answerFault({ status, headers, text }: Answer): string | undefined {
  if (status < 500 || (status === 503 && (headers['retry-after'] !== undefined || NOT_SET_UP.test(text)))) return undefined;
  return `answers ${status}: ${text.slice(0, 200)}`;
}

/** A body that is refused before it is whole may lose its connection. */
function connectionFault(error: unknown, { name }: Row): string | undefined {
  const { code } = error as { code?: string };
  if (READ_ALOUD.has(name) && /did not end/.test(String(error))) return undefined;
  return code === 'ECONNRESET' || code === 'EPIPE' ? undefined : `got no answer: ${String(error)}`;
}

async function restingRss(hostile: HostileServer, before: number): Promise<number> {
  const until = performance.now() + GROWTH.withinMs;
  let rss = rssOf(hostile);
  while (rss > before * GROWTH.ratio && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    rss = rssOf(hostile);
  }
  return rss;
}

function rssOf({ server }: HostileServer): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** Prints each route with what was found, and returns how many have a fault. */
export async function printRouteFindings(hostile: HostileServer, options: RouteFindingsOptions): Promise<number> {
  let nFaulty = 0;
  for await (const { name, faults, nUntried, place } of routeFindings(hostile, options)) {
    const untried = nUntried === 0 ? '' : `, ${nUntried} requests untried`;
    console.log(`${faults.length === 0 ? 'ok    ' : 'FAULTY'}  ${place.join('/')}  ${name}${untried}`);
    for (const fault of faults) console.log(`          ${fault}`);
    if (faults.length > 0) nFaulty += 1;
  }
  return nFaulty;
}
