/** Four ways to find a word in collected lines. Each says how many lines it found, so that none is fast by finding nothing. */
import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import { spawnClickHouse } from '../../test/clickhouse-process.ts';
import { listHourFiles } from '../../ts/server/domains/logs/collection/copy-files.ts';
import { type FramePlace, framesOf, readFrame, withFile } from '../../ts/server/domains/logs/collection/packed-frames.ts';
import { ClickHouseLines } from '../../ts/server/domains/logs/index/clickhouse.ts';
import { IndexedCopy } from '../../ts/server/domains/logs/index/indexed-copy.ts';
import { readLines, type TimedLine } from '../../ts/server/domains/logs/index/log-line.ts';
import { matcherOf, parseQuery } from '../../ts/server/domains/logs/index/query.ts';
import { LogSearcher, type SearchRequest } from '../../ts/server/domains/logs/index/search.ts';

export interface LogSearching {
  /** Bytes beside the packed files. */
  index(): Promise<number>;
  /** Lines that were found, at most so many as the request says. */
  find(word: string, request: SearchRequest): Promise<number>;
  close(): Promise<void>;
}

const run = promisify(execFile);
const BATCH_LINES = 10_000;

/** Lines of the packed hours, one batch after the other. */
async function* batchesOf(folder: string): AsyncGenerator<TimedLine[]> {
  for (const { path } of await listHourFiles(folder)) {
    const places = await withFile(path, async (file) => {
      const all: FramePlace[] = [];
      for await (const place of framesOf(file)) all.push(place);
      return all;
    });
    const read = { lines: [] as TimedLine[], nBad: 0, nRedacted: 0 };
    for (const place of places) {
      const text = (await withFile(path, (file) => readFrame(file, place))).toString();
      for (const line of text.split('\n')) readLines(line, read);
      if (read.lines.length < BATCH_LINES) continue;
      yield read.lines;
      read.lines = [];
    }
    if (read.lines.length > 0) yield read.lines;
  }
}

export function ours(folder: string): LogSearching {
  const index = join(folder, '.index');
  const [copy, searcher] = [{ path: folder, number: 0 }, new LogSearcher(index)];
  return {
    async index() {
      const indexed = new IndexedCopy(index);
      for (;;) {
        const { isDone, sizeBytes } = await indexed.advance(copy, 60_000);
        if (isDone) return sizeBytes;
      }
    },
    find: async (word, request) => (await searcher.search(copy, request, matcherOf(parseQuery(word)), () => false)).lines.length,
    close: async () => rmSync(index, { recursive: true, force: true }),
  };
}

/** As an operator would, who names no time: files by class and hour are what narrows it. */
export function zstdgrep(folder: string): LogSearching {
  return {
    index: async () => 0,
    async find(word, { classes, fromMs, toMs, limit }) {
      const files = (await listHourFiles(folder)).filter(({ className, hour }) => {
        const beginMs = Date.parse(`${hour}:00:00Z`);
        return classes?.includes(className) !== false && beginMs < toMs && beginMs + 3_600_000 > fromMs;
      });
      const paths = files.map(({ path }) => path).toReversed();
      const script =
        'word=$1; limit=$2; shift 2; for file; do zstdcat -- "$file" | grep -F -w -- "$word"; done | tail -n "$limit" | wc -l';
      const { stdout } = await run('bash', ['-c', script, 'bash', word, String(limit), ...paths]);
      return Number(stdout);
    },
    close: async () => undefined,
  };
}

export function fts5(folder: string): LogSearching {
  const path = join(folder, '.fts5.db');
  rmSync(path, { force: true });
  const database = new Database(path);
  return {
    async index() {
      database.pragma('journal_mode = off');
      database.exec('CREATE TABLE lines (id INTEGER PRIMARY KEY, at_ms INTEGER, class TEXT)');
      database.exec("CREATE VIRTUAL TABLE words USING fts5(text, content='', detail=none)");
      const line = database.prepare('INSERT INTO lines (id, at_ms, class) VALUES (?, ?, ?)');
      const words = database.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
      let id = 0;
      for await (const batch of batchesOf(folder))
        database.transaction(() => {
          for (const { line: each, atMs } of batch) {
            id += 1;
            line.run(id, atMs, each.class);
            words.run(id, `${each.msg} ${each.host} ${each.app} ${each.fromhost_ip}`);
          }
        })();
      database.exec('CREATE INDEX lines_at ON lines (class, at_ms)');
      return statSync(path).size;
    },
    async find(word, { classes, fromMs, toMs, limit }) {
      const ofClass = classes === undefined ? '' : `AND class = '${classes[0]}'`;
      const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM words JOIN lines ON lines.id = words.rowid WHERE words MATCH ? AND at_ms >= ? AND at_ms < ? ${ofClass}
        ORDER BY at_ms DESC LIMIT ${limit})`;
      return (database.prepare(sql).get(word, fromMs, toMs) as { n: number }).n;
    },
    close: async () => {
      database.close();
      rmSync(path, { force: true });
    },
  };
}

/** ClickHouse's engine as our store uses it. */
export async function chdb(folder: string): Promise<LogSearching> {
  const place = join(folder, '.chdb');
  rmSync(place, { recursive: true, force: true });
  const server = await spawnClickHouse(place);
  const lines = new ClickHouseLines(server.url);
  return {
    async index() {
      await lines.create();
      for await (const batch of batchesOf(folder)) await lines.insert(batch, batch[0]?.line.rcvd.slice(0, 13) ?? '');
      const { stdout } = await run('du', ['-sb', place]);
      return Number.parseInt(stdout, 10);
    },
    find: async (word, request) => (await lines.search(request, matcherOf(parseQuery(word)), () => false)).lines.length,
    close: async () => {
      await server.kill();
      rmSync(place, { recursive: true, force: true });
    },
  };
}
