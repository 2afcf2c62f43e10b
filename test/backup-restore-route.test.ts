/** A node that is asked over HTTP to go back to a backup. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { post, send } from './http.ts';
import { startServer } from './server.ts';
import { BackedUpNode } from './test-support/backed-up-node.ts';

t.setTimeout(300_000);
const conversations = '/api/v1/edge/conversations';
const path = '/api/v1/backup/restore';

t.test('a restore by its route ends the node, and its next start has the state of the backup', async (t) => {
  const folder = t.testdir({ passphrase: 'correct horse battery staple\n', node: {} });
  const settings = { SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase'), SVC_BACKUP_FOLDER: join(folder, 'backups') };
  const node = await BackedUpNode.start(t, join(folder, 'node'), settings);
  const { url } = node.server;
  t.match(await node.svc(['backup', 'create']), { code: 0 });
  t.equal((await post(url + conversations, { title: 'Later' }, node.bearer)).status, 201);

  t.equal((await post(url + path, { id: 'latest', confirm: true })).status, 401);
  t.equal((await post(url + path, { id: 'latest', confirm: false }, node.bearer)).status, 400);
  t.equal((await post(url + path, { id: '20260101T000000000Z-00000000', confirm: true }, node.bearer)).status, 404);
  t.match((await send(url + conversations, { headers: node.bearer })).text, /"Later"/);

  const { status, json } = await post(url + path, { id: 'latest', confirm: true }, node.bearer);
  t.equal(status, 202);
  t.match(json, { job_id: String, backup: String, next: /exit code 75/ });
  while (node.server.running) await wait(20);
  t.strictSame(await node.server.stop(), { code: 75, signal: null });

  const again = await startServer(t, { folder: join(folder, 'node'), env: settings });
  const { text } = await send(again.url + conversations, { headers: node.bearer });
  t.match(text, /"Kept"/);
  t.notMatch(text, /"Later"/);
  await again.stop();
});
