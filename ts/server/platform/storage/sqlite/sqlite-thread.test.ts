import { Worker } from 'node:worker_threads';
import t from 'tap';
import type { StorageError } from '../storage-error.ts';
import { SqliteThread } from './sqlite-thread.ts';
import type { WriterRequest } from './thread-messages.ts';

const dying = new URL('../test-support/dying-thread.ts', import.meta.url);

t.test('when a thread ends unasked, what it was asked has an unknown outcome, and its owner is told', async (t) => {
  const broken = Promise.withResolvers<StorageError>();
  const thread = new SqliteThread<WriterRequest>(
    new Worker(dying, { execArgv: [] }),
    { file: '', recover: false },
    { onBroken: broken.resolve, onCommit() {} },
  );
  await thread.opened();
  const asked = thread.ask((id) => ({ kind: 'unit', id, statements: [] }));
  await t.rejects(asked, { code: 'storage_unavailable', outcome: 'unknown' });
  t.equal((await broken.promise).code, 'storage_unavailable');
  t.ok(thread.isOver);
  await t.rejects(
    thread.ask((id) => ({ kind: 'unit', id, statements: [] })),
    { code: 'storage_unavailable' },
  );
  await thread.end();
});
