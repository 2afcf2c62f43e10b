/** The way of docs/operate/backups.md to back a node up and to restore it, on a node that serves and on an empty machine. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { post, send } from './http.ts';
import { startServer } from './server.ts';
import { BackedUpNode } from './test-support/backed-up-node.ts';

t.setTimeout(300_000);

t.test('a node is backed up while it serves, and serves from the backup on an empty machine', async (t) => {
  const folder = t.testdir({ passphrase: 'correct horse battery staple\n', old: {}, new: {} });
  const [old, fresh, backups] = [join(folder, 'old'), join(folder, 'new'), join(folder, 'backups')];
  const settings = { SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase'), SVC_BACKUP_KEEP: '2' };
  const node = await BackedUpNode.start(t, old, settings);
  const svc = node.svc.bind(node);
  const backupsPath = `${node.server.url}/api/v1/backup/backups`;
  t.equal((await post(backupsPath, undefined)).status, 401);

  t.match((await svc(['backup', 'destination'])).json(), { folder: join(old, 'data', 'backups'), encrypted: null });
  t.match(await svc(['backup', 'destination', join(old, 'data', 'models')]), { code: 1, stderr: /folder backups alone/ });
  t.match((await svc(['backup', 'destination', backups])).json(), { folder: backups });
  t.match((await svc(['backup', 'create'])).json(), { state: 'done', result: { deleted_backups: 0 } });
  const [{ id } = { id: '' }] = (await svc(['backup', 'list'])).json() as { id: string }[];
  const details = (await svc(['backup', 'show', id])).json();
  t.match(details, { encrypted: true, database: 'sqlite', tables: { identity_users: Number }, files: Array });
  t.strictSame((await svc(['backup', 'verify', id])).json(), { verified: [id], missing: {} });
  await node.verifyByRoute(t, id);
  t.equal((await send(`${backupsPath}/20260101T000000000Z-00000000`, { headers: node.bearer })).status, 404);
  t.match(await svc(['backup', 'restore', 'latest', '--force']), { code: 6, stderr: /in use by svc serve/ });
  t.match(await svc(['backup', 'create']), { code: 0 });
  t.match(await svc(['backup', 'create']), { code: 0 });
  t.equal(((await svc(['backup', 'list'])).json() as object[]).length, 2, 'older ones than are kept are deleted');
  await node.server.stop();

  const other = { SVC_DATA_DIR: join(fresh, 'data') };
  writeFileSync(join(folder, 'wrong'), 'another passphrase\n');
  const restore = ['backup', 'restore', 'latest', '--from', backups];
  t.match(await svc([...restore, '--passphrase-file', join(folder, 'wrong')], other), { code: 2, stderr: /another passphrase/ });
  t.match(await svc(restore, other), { code: 0, stdout: /restored/ });
  t.match(await svc(restore, other), { code: 6, stderr: /--force/ });
  t.equal(readFileSync(join(fresh, 'data', 'node.json'), 'utf8'), readFileSync(join(old, 'data', 'node.json'), 'utf8'));
  await node.expectRestored(t, fresh, settings);
});

t.test('without a passphrase nothing is written unless the operator says so', async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, 'data'));
  const server = await startServer(t, { folder });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  t.match(await runCli(['backup', 'create'], { env }), { code: 6, stderr: /backup\.passphrase_file/ });
  t.notOk(readdirSync(join(folder, 'data')).includes('backups'));
});
