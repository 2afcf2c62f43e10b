/** A SQLite file that something else has written into is refused by the start and by `svc doctor`, with what to do. */
import { closeSync, openSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { freePort } from './child-server.ts';
import { openProgram } from './matrix/program.ts';

t.setTimeout(120_000);

/** The data folder of a node that was stopped. */
async function stoppedNode(t: Test): Promise<{ file: string; env: NodeJS.ProcessEnv }> {
  const folder = newFolder(t);
  const { client, stop } = await openProgram(folder);
  for (let i = 0; i < 20; i += 1) {
    const conversation = await client.json('POST', '/api/v1/edge/conversations', {}, { title: `number ${i}` });
    const content = `word${i} `.repeat(200);
    await client.json(
      'POST',
      '/api/v1/edge/conversations/messages',
      {},
      { conversation_id: conversation.id, role: 'user', content },
    );
  }
  await stop();
  const [dataDir, listen] = [join(folder, 'data'), `127.0.0.1:${await freePort()}`];
  return {
    file: join(dataDir, 'svc.db'),
    env: { SVC_DATA_DIR: dataDir, SVC_LISTEN: listen, SVC_MODELS_DIR: join(folder, 'none'), SVC_LOG_FORMAT: 'json' },
  };
}

/** Forty pieces of 200 bytes. */
function overwrite(file: string, placeOf: (i: number) => number): void {
  const fd = openSync(file, 'r+');
  for (let i = 0; i < 40; i += 1) writeSync(fd, Buffer.alloc(200, 0xa5 + i), 0, 200, placeOf(i));
  closeSync(fd);
}

const evenly = (file: string) => (i: number) => Math.floor((i * (statSync(file).size - 200)) / 40);

/** Inside the pages of what was said, which no start reads. */
function amongMessages(file: string): (i: number) => number {
  const db = new Database(file, { readonly: true });
  const pages = db.prepare("select pgoffset from dbstat where name = 'conversation_messages'").pluck().all() as number[];
  db.close();
  return (i) => (pages[i % pages.length] ?? 0) + 64 * (i % 8);
}

for (const [where, places] of [
  ['among the messages alone', amongMessages],
  ['all over the file', evenly],
] as const)
  t.test(`forty places are overwritten, ${where}`, async (t) => {
    const { file, env } = await stoppedNode(t);
    overwrite(file, places(file));
    const { code, stderr, stdout } = await runCli(['serve'], { env });
    t.equal(code, 5, stderr);
    t.match(stderr, /The database file .*svc\.db is damaged: /);
    t.match(stderr, /svc backup list.*svc backup verify BACKUP.*svc backup restore BACKUP --force/s);
    t.notMatch(stdout, /ready/);
    t.match((await runCli(['doctor'], { env })).stdout, /BROKEN +database +The database file .*svc\.db is damaged/);
  });
