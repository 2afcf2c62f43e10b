import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataDirLock } from '../../server/platform/storage/index.ts';
import { cliSetting } from '../cli-setting.ts';

// Each run of the program starts a process: half a second on an idle core.
t.setTimeout(300_000);

t.test('a dry run says what would be migrated and creates nothing', async (t) => {
  const { root, run } = cliSetting(t);
  const dataDir = join(root, 'data');
  t.match((await run(['migrate', '--dry-run', '--json'])).json(), { pending: Array });
  t.notOk(existsSync(join(dataDir, 'svc.db')));
});

t.test('migrating twice changes nothing the second time, and the database can be moved', async (t) => {
  const { root, run } = cliSetting(t);
  const dataDir = join(root, 'data');
  t.match(await run(['migrate']), { code: 0 });
  t.ok(existsSync(join(dataDir, 'svc.db')));
  t.match(await run(['migrate', '--dry-run']), { code: 0, stdout: 'The database is up to date.\n' });
  const target = join(root, 'moved.sqlite');
  t.match(await run(['migrate', '--to', `sqlite:${target}`]), { code: 0, stderr: /Set database.url/ });
  t.ok(existsSync(target));
});

t.test('what cannot be done is said with a remedy and a code', async (t) => {
  const { root, run } = cliSetting(t);
  const dataDir = join(root, 'data');
  t.match(await run(['migrate', '--to', `sqlite:${join(root, 'new.sqlite')}`]), { code: 6, stderr: /does not exist/ });
  t.match(await run(['migrate', '--to', 'mysql://x', '--dry-run']), { code: 2 });
  t.match(await run(['migrate', '--to', 'mysql://x']), { code: 2, stderr: /postgres:\/\// });
  const lock = await DataDirLock.acquire(dataDir, 'svc serve');
  t.match(await run(['migrate']), { code: 6, stderr: /in use by svc serve/ });
  lock.release();
});
