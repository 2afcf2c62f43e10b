/** The thread that writes to the SQLite database, so that no fsync stalls the event loop. Its first message is a ThreadData. */
import { parentPort } from 'node:worker_threads';
import { Connection } from '../server/platform/storage/sqlite/connection.ts';
import { toThreadError } from '../server/platform/storage/sqlite/sqlite-failure.ts';
import type { ThreadData, WriterRequest } from '../server/platform/storage/sqlite/thread-messages.ts';
import { ThreadPort } from '../server/platform/storage/sqlite/thread-port.ts';
import { verifyDatabase } from '../server/platform/storage/sqlite/verify-database.ts';
import { Writer } from '../server/platform/storage/sqlite/writer.ts';

if (!parentPort) throw new Error('sqlite-writer.ts runs as a worker thread');
const port = new ThreadPort<WriterRequest>(parentPort);

parentPort.once('message', ({ file, recover, transient }: ThreadData) => {
  try {
    const connection = Connection.openWriter(file, transient);
    if (recover) verifyDatabase(connection.database);
    const writer = new Writer(connection, port);
    port.onBatch((batch) => writer.handle(batch));
    port.send({ kind: 'opened' });
    port.flush();
  } catch (error) {
    port.send({ kind: 'broken', error: toThreadError(error, { fatal: true }) });
    port.close();
  }
});
