/** A chat beside the training of a world model: the times between its tokens, over those without it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { send } from '../../test/http.ts';
import { runServer } from '../../test/server.ts';
import { shapedBody } from '../client/chat-body.ts';
import { sendChat } from '../client/chat-request.ts';
import { at } from '../client/summary.ts';
import type { Goal } from './main.ts';

const MOST_RATIO = 1.5;
const N_ROUNDS = 3;
const N_HOURS = 2_000;
const HOUR_MS = 3_600_000;
const TOKENS = 400;
const MODEL = { shape: 'mid', nContext: 4_096 } as const;

/** The median of rounds. Usage of a quarter of a year is put into the database, since a series has as many hours as it has lived. */
export async function besideTraining(): Promise<Goal> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-forecast-'));
  const start = () => runServer({ models: { mid: MODEL }, folder });
  let server = await start();
  try {
    await chat(server.url, 0);
    while (!hasUsage(folder)) await sleep(50);
    await server.stop();
    writeUsage(folder);
    server = await start();
    const { url } = server;
    await chat(url, 0);
    const ratios: number[] = [];
    for (let round = 1; round <= N_ROUNDS; round++) {
      const alone = await chat(url, 2 * round);
      const training = train(url, `round-${round}.exmm`);
      const beside = await chat(url, 2 * round + 1, training.isOver);
      const nTrained = await training.over;
      ratios.push(beside.p99 / alone.p99);
      console.log(
        `a chat's tokens, p99: ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside ${nTrained} trainings (${beside.n} tokens)`,
      );
    }
    const ratio = at(ratios, 0.5);
    return {
      text: `a chat's p99 beside training ${ratio.toFixed(2)} times that without it, at most ${MOST_RATIO}`,
      isHeld: ratio <= MOST_RATIO,
    };
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Chats one after the other: one, or until `isOver`. */
async function chat(url: string, own: number, isOver = () => true): Promise<{ p99: number; n: number }> {
  const { hostname: host, port } = new URL(url);
  const gaps: number[] = [];
  do {
    const { status, gapsMs } = await sendChat(
      { host, port: Number(port) },
      shapedBody({ ownWords: 20, maxTokens: TOKENS }, 1, own),
    );
    if (status !== 200) throw new Error(`the chat failed: ${status}`);
    gaps.push(...gapsMs);
  } while (!isOver());
  return { p99: at(gaps, 0.99), n: gaps.length };
}

interface Training {
  isOver(): boolean;
  /** How many world models were trained. */
  readonly over: Promise<number>;
}

function train(url: string, file: string): Training {
  let isOver = false;
  const work = async (): Promise<number> => {
    const { status, json, text } = await send(`${url}/api/v1/memory/forecasts`, {
      method: 'POST',
      body: { series: ['usage.requests', 'usage.tokens'], file },
    });
    if (status !== 202) throw new Error(text);
    for (;;) {
      const job = (await send(`${url}/api/v1/system/jobs/${json?.['job_id']}`)).json;
      if (job?.['state'] === 'done') return (job['result'] as { models: unknown[] }).models.length;
      if (job?.['state'] === 'failed') throw new Error(JSON.stringify(job));
      await sleep(20);
    }
  };
  const over = work().finally(() => {
    isOver = true;
  });
  return { isOver: () => isOver, over };
}

function hasUsage(folder: string): boolean {
  return withDatabase(folder, (database) => database.prepare('select 1 from metering_usage').all().length > 0);
}

/** Hours of a load by day and week, each a copy of the one that was counted. */
function writeUsage(folder: string): void {
  withDatabase(folder, (database) => {
    const row = database.prepare('select * from metering_usage limit 1').get() as Record<string, number>;
    const names = Object.keys(row);
    const insert = database.prepare(
      `insert into metering_usage (${names.join()}) values (${names.map((name) => `@${name}`).join()})`,
    );
    const all = database.transaction(() => {
      for (let i = 1; i <= N_HOURS; i++) {
        const load = 100 + Math.round(30 * Math.sin((2 * Math.PI * i) / 24) + (i % 168 < 120 ? 25 : 0) + ((i * 7_919) % 97) / 10);
        insert.run({ ...row, hour: (row['hour'] ?? 0) - i * HOUR_MS, requests: load, prompt_tokens: 7 * load });
      }
    });
    all();
  });
}

function withDatabase<T>(folder: string, work: (database: Database.Database) => T): T {
  const database = new Database(join(folder, 'data', 'svc.db'));
  try {
    return work(database);
  } finally {
    database.close();
  }
}
