import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataDirLock } from '../../server/platform/storage/index.ts';
import { cliSetting } from '../cli-setting.ts';

t.setTimeout(300_000);

t.test('purging says what it would delete, deletes that when told to, and nothing else', async (t) => {
  const { root, run } = cliSetting(t);
  const data = join(root, 'data');
  t.match(await run(['migrate']), { code: 0 });
  for (const folder of ['blobs', 'cache', 'models', 'backups', 'not of svc']) mkdirSync(join(data, folder));
  for (const file of ['sealing.key', 'node.json', 'svc.db.pre-identity-3.bak', 'blobs/x', 'svc.db.mine', 'backups/x'])
    writeFileSync(join(data, file), 'x');
  mkdirSync(join(root, 'elsewhere'));
  writeFileSync(join(root, 'elsewhere', 'kept'), 'x');
  symlinkSync(join(root, 'elsewhere'), join(data, 'uploads'));
  const before = readdirSync(data).sort();
  t.match((await run(['purge', '--json'])).json(), { deleted: [], kept: ['backups', 'not of svc', 'svc.db.mine'] });
  t.strictSame(readdirSync(data).sort(), before, 'nothing was deleted');
  const lock = await DataDirLock.acquire(data, 'svc serve');
  t.match(await run(['purge', '--yes']), { code: 6, stderr: /in use by svc serve/ });
  lock.release();
  t.match(await run(['purge', '--yes']), { code: 0, stderr: /Not touched in .*: backups, not of svc, svc\.db\.mine/ });
  t.strictSame(readdirSync(data).sort(), ['backups', 'not of svc', 'svc.db.mine']);
  t.ok(existsSync(join(root, 'elsewhere', 'kept')), 'a link is not followed');
  t.match(await run(['purge', '--yes', '--backups']), { code: 0 });
  t.strictSame(readdirSync(data).sort(), ['not of svc', 'svc.db.mine']);
  t.match(await run(['purge', '--yes'], { env: { SVC_DATA_DIR: join(root, 'nowhere') } }), { code: 0 });
  t.notOk(existsSync(join(root, 'nowhere')));
});
