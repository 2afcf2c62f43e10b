import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { StorageError } from '../storage-error.ts';
import { resolveStorageOptions } from '../storage-options.ts';
import { ConnectionPool } from './connection-pool.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
/** Nobody listens there. */
const newPool = () => new ConnectionPool(resolveStorageOptions({ url: 'postgres://svc@127.0.0.1:1/svc', modules: [] }));

t.test('a wait for a connection leaves nothing behind when it is over', async (t) => {
  const pool = newPool();
  t.teardown(() => pool.end());
  const failures: WeakRef<object>[] = [];
  for (let i = 0; i < 20; i += 1)
    await pool.connect().catch((error: StorageError) => failures.push(new WeakRef(error.cause as object)));
  t.equal(failures.length, 20);
  await nextTurn();
  collectGarbage();
  // The last ones may still be named by what runs now.
  t.ok(failures.filter((failure) => failure.deref() !== undefined).length < 5);
});

t.test('a pool that was given up refuses at once, with the reason', async (t) => {
  const pool = newPool();
  const reason = new StorageError('storage_unavailable', 'It is silent.');
  const waiting = t.rejects(pool.connect(), reason);
  pool.destroy(reason);
  await waiting;
  await t.rejects(pool.connect(), reason);
});
