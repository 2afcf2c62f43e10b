/** What clients wait for while backups are made, beside what they wait for without: told, and judged only where it is asked for, on a machine without neighbours. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { post, send } from './http.ts';
import { BackedUpNode } from './test-support/backed-up-node.ts';
import { iterations } from './test-support/iterations.ts';

t.setTimeout(300_000);
const nRequests = iterations(100, 1000);
const isJudged = process.env['SVC_TEST_TIMES'] === '1';
const MOST_TIMES_IDLE = 2;
/** A neighbour on the machine may have the worst requests of one round, and not of each. */
const ROUNDS = 3;

t.test('every request is answered while backups are made', async (t) => {
  const folder = t.testdir({ passphrase: 'correct horse battery staple\n', node: {} });
  const settings = { SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase'), SVC_BACKUP_FOLDER: join(folder, 'backups') };
  const node = await BackedUpNode.start(t, join(folder, 'node'), settings);
  const { url } = node.server;
  const path = `${url}/api/v1/edge/conversations`;
  const ask = async (n: number): Promise<void> => {
    const { status, text } = await (n % 2 === 0
      ? send(path, { headers: node.bearer })
      : post(path, { title: `Beside ${n}` }, node.bearer));
    if (status >= 300) throw new Error(`request ${n} was answered ${status}: ${text}`);
  };
  const bodies = Array.from({ length: 12 }, () => randomBytes(1_000_000).toString('base64'));
  for (const [n, text] of bodies.entries()) await upload(url, `file-${n}.txt`, text, node.bearer);
  let [made, best] = [0, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS && (round === 0 || (isJudged && best > MOST_TIMES_IDLE)); round += 1) {
    const idleMs = await p99(nRequests, ask);
    let isOver = false;
    const backups = (async () => {
      for (; !isOver; made += 1) await backUp(url, node.bearer);
    })();
    const besideMs = await p99(nRequests, ask);
    isOver = true;
    await backups;
    best = Math.min(best, besideMs / idleMs);
    t.comment(`p99 ${idleMs.toFixed(1)} ms without, ${besideMs.toFixed(1)} ms beside ${made} backups`);
  }
  t.ok(made > 0, 'backups were made meanwhile');
  if (isJudged) t.ok(best <= MOST_TIMES_IDLE, `${best.toFixed(2)} times`);
});

/** Milliseconds, of requests one after the other. */
async function p99(count: number, ask: (n: number) => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const began = performance.now();
    await ask(n);
    times.push(performance.now() - began);
    await wait(5);
  }
  return times.sort((a, b) => a - b)[Math.floor(count * 0.99)] ?? Number.NaN;
}

/** Resolves when it is made and proved. */
async function backUp(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const { json } = await post(`${url}/api/v1/backup/backups`, undefined, headers);
  for (;;) {
    const job = await send(`${url}/api/v1/system/jobs/${json?.['job_id']}`, { headers });
    if (job.json?.['state'] === 'done') return;
    if (job.status !== 200 || job.json?.['state'] === 'failed') throw new Error(job.text);
    await wait(100);
  }
}

async function upload(url: string, name: string, text: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const form = new FormData();
  form.set('purpose', 'assistants');
  form.set('file', new Blob([text]), name);
  const { status } = await fetch(`${url}/v1/files`, { method: 'POST', headers, body: form });
  if (status !== 200) throw new Error(`the file was answered ${status}`);
}
