/**
 * `npm run bench -- standby [--size GB]`: a primary on SQLite with so much data and its standby, as two programs: how old the copy gets while documents
 * are written, how long a snapshot takes when little changed, how long a promotion takes after the primary was killed, and whether a search finds
 * each document that was synced. Four fifths of the data are rows of a table of its own in the database, the rest files that were uploaded.
 */
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Agent, setGlobalDispatcher } from 'undici';
import { type ChildServer, freePort } from '../../test/child-server.ts';
import { send } from '../../test/http.ts';
import { embeddingModel, runServer } from '../../test/server.ts';
import { runCli } from '../../ts/cli/run-cli.ts';
import { readOptions } from '../options.ts';

const options = readOptions(process.argv.slice(2));
const isQuick = options?.isQuick === true;
const sizeGb = options?.sizeGb ?? (isQuick ? 0.2 : 10);
/** The chunks, two states of the database, the files, and the primary's own. */
const SPACE = 5;
const SYNC_SECONDS = isQuick ? 10 : 120;
const LOAD_SECONDS = isQuick ? 30 : 420;
const N_DOCUMENTS = isQuick ? 40 : 200;
const ROW_BYTES = 16_000;
const FILE_BYTES = 32 * 2 ** 20;
const MOST_LAG_SECONDS = 120;
const MOST_PROMOTION_SECONDS = 30;

interface Replica {
  node: string;
  state: string;
  commit: number | null;
  lag_seconds: number | null;
}

class Machine {
  readonly folder: string;
  readonly #port: number;
  server!: ChildServer;

  constructor(folder: string, port: number) {
    this.folder = folder;
    this.#port = port;
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  async start(): Promise<void> {
    this.server = await runServer({
      models: { [embeddingModel]: { arch: 'bert' } },
      folder: this.folder,
      env: {
        SVC_CLUSTER_LISTEN: `127.0.0.1:${this.#port}`,
        SVC_CLUSTER_HEARTBEAT_SECONDS: '1',
        SVC_CLUSTER_ENTRY_SECONDS: '10',
        SVC_CLUSTER_SYNC_SECONDS: String(SYNC_SECONDS),
        SVC_DATA_EMBEDDING_URL: '',
      },
      readyPath: '/health',
    });
  }

  /** Starts it again once it has ended, as a service manager does. */
  async again(): Promise<void> {
    while (this.server.running) await sleep(20);
    await this.start();
  }

  async ask(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') {
    return await send(this.server.url + path, { method, body, headers: root });
  }

  async untilReady(): Promise<void> {
    while ((await this.ask('/readyz')).status !== 200) await sleep(50);
  }
}

// The answer about a snapshot comes when it is at the standby.
setGlobalDispatcher(new Agent({ headersTimeout: 0, bodyTimeout: 0 }));
const root: Record<string, string> = {};
const folder = mkdtempSync(join(process.env['SVC_BENCH_FOLDER'] ?? tmpdir(), 'svc-bench-standby-'));
const one = new Machine(join(folder, 'one'), await freePort());
const two = new Machine(join(folder, 'two'), await freePort());
const written: string[] = [];
let isWriting = true;
const goals: boolean[] = [];

try {
  await measure();
} finally {
  isWriting = false;
  for (const machine of [one, two]) await machine.server?.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${goals.filter(Boolean).length} goals held, ${goals.filter((isHeld) => !isHeld).length} missed`);
process.exit(goals.every(Boolean) ? 0 : 1);

async function measure(): Promise<void> {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < SPACE * sizeGb * 1e9) throw new Error(`${sizeGb} GB need ${SPACE} times as much on the disk of ${folder}`);
  await one.start();
  await one.untilReady();
  const { json } = await one.ask('/api/v1/auth/register', { username: 'root', password: 'correct horse battery staple' });
  root['authorization'] = `Bearer ${String(json?.['token'])}`;
  const made = await one.ask('/api/v1/identity/keys', { name: 'bench' });
  root['authorization'] = `Bearer ${String(made.json?.['api_key'])}`;
  for (let i = 0; i < N_DOCUMENTS; i++) await write();
  await timed(`${sizeGb} GB are written`, fill);
  const token = await one.ask('/api/v1/cluster/join-tokens', { roles: ['data', 'inference'] });
  await two.start();
  await two.ask('/api/v1/cluster/join', { token: token.json?.['token'] });
  await two.again();
  await timed('the first snapshot is at the standby', async () => {
    while ((await replica())?.commit === null || (await replica()) === undefined) await sleep(200);
  });
  const path = `/api/v1/cluster/storage/${(await replica())?.node}/sync`;
  // The first one is as old as it took long.
  await timed('the next snapshot', () => one.ask(path, {}));
  const writing = writeOn();
  await watchLag();
  await timed('a snapshot of what was written meanwhile', () => one.ask(path, {}));
  await timed('a snapshot of next to nothing', () => one.ask(path, {}));
  const before = [...written];
  const synced = await one.ask(path, {});
  if (synced.status !== 200) throw new Error(synced.text);
  while (written.length < before.length + 5) await sleep(50);
  await one.server.stop('SIGKILL');
  isWriting = false;
  await writing;
  await promote();
  await search(before);
}

async function fill(): Promise<void> {
  await one.server.stop();
  const database = new Database(join(one.data, 'svc.db'));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  database.exec('create table bench_rows (n integer primary key, body blob)');
  const insert = database.prepare('insert into bench_rows (body) values (?)');
  const body = Buffer.alloc(ROW_BYTES);
  const addRows = database.transaction((nRows: number) => {
    for (let i = 0; i < nRows; i++) insert.run(randomFillSync(body));
  });
  for (let left = Math.round((0.8 * sizeGb * 1e9) / ROW_BYTES); left > 0; left -= 2_000) addRows(Math.min(2_000, left));
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
  await one.start();
  await one.untilReady();
  const bytes = new Uint8Array(FILE_BYTES);
  for (let i = 0; i < (0.2 * sizeGb * 1e9) / FILE_BYTES; i++) {
    const form = new FormData();
    form.append('purpose', 'assistants');
    form.append('file', new Blob([randomFillSync(bytes)]), `file-${i}.bin`);
    const { status } = await fetch(`${one.server.url}/v1/files`, { method: 'POST', headers: root, body: form });
    if (status !== 200) throw new Error(`a file was not taken: ${status}`);
  }
}

async function write(): Promise<void> {
  const source = `w${written.length}`;
  const text = `The keeper of the lighthouse number${written.length} is Mira Doll, and its lamp is lit at dusk.`;
  const { status } = await one.ask('/api/v1/vector/ingest', { tenant: 'default', namespace: 'town', source, text });
  if (status === 201) written.push(source);
  else throw new Error(`a document was not taken: ${status}`);
}

/** Until the primary is gone. */
async function writeOn(): Promise<void> {
  while (isWriting) {
    await write().catch(() => undefined);
    await sleep(100);
  }
}

async function replica(): Promise<Replica | undefined> {
  return ((await one.ask('/api/v1/cluster/storage')).json?.['replicas'] as Replica[] | undefined)?.[0];
}

async function watchLag(): Promise<void> {
  const lags: number[] = [];
  let nUnsaid = 0;
  const until = performance.now() + LOAD_SECONDS * 1_000;
  while (performance.now() < until) {
    const { lag_seconds: lag, state } = (await replica()) ?? { lag_seconds: null, state: '' };
    if (lag !== null) lags.push(lag);
    if ((lag === null || lag > MOST_LAG_SECONDS) && state === 'ok') nUnsaid += 1;
    await sleep(1_000);
  }
  const most = Math.max(...lags);
  console.log(`${written.length - N_DOCUMENTS} documents were written in ${LOAD_SECONDS} s; ${lags.length} looks at the lag`);
  goal(most <= MOST_LAG_SECONDS, `lag at most ${most} s, a snapshot each ${SYNC_SECONDS} s; the goal is ${MOST_LAG_SECONDS} s`);
  goal(nUnsaid === 0, `${nUnsaid} looks found a later copy that was said to be ok`);
}

async function promote(): Promise<void> {
  const began = performance.now();
  const { code, stderr } = await runCli(['node', 'promote', '--force', '--json'], { env: { SVC_DATA_DIR: two.data } });
  if (code !== 0) throw new Error(stderr);
  await two.again();
  await two.untilReady();
  const seconds = (performance.now() - began) / 1_000;
  goal(seconds <= MOST_PROMOTION_SECONDS, `promoted and ready in ${seconds.toFixed(1)} s, at most ${MOST_PROMOTION_SECONDS} s`);
}

async function search(sources: readonly string[]): Promise<void> {
  let nFound = 0;
  for (const source of sources) {
    const query = `lighthouse number${source.slice(1)}`;
    const found = await two.ask('/api/v1/vector/search', { tenant: 'default', namespace: 'town', query, limit: 10 });
    if (found.text.includes(`"${source}"`)) nFound += 1;
  }
  goal(nFound === sources.length, `a search finds ${nFound} of ${sources.length} documents that were synced`);
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  console.log(`${what}: ${((performance.now() - began) / 1_000).toFixed(1)} s`);
}

function goal(isHeld: boolean, sentence: string): void {
  goals.push(isHeld);
  console.log(`${isHeld ? 'held  ' : 'missed'} ${sentence}`);
}
