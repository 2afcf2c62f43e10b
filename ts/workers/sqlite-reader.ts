/** The thread that reads the SQLite database, so that no query stalls the event loop. Its first message is a ThreadData. */
import { parentPort } from 'node:worker_threads';
import { Reader } from '../server/platform/storage/sqlite/reader.ts';
import type { ReaderRequest, ThreadData } from '../server/platform/storage/sqlite/thread-messages.ts';
import { ThreadPort } from '../server/platform/storage/sqlite/thread-port.ts';

if (!parentPort) throw new Error('sqlite-reader.ts runs as a worker thread');
const port = new ThreadPort<ReaderRequest>(parentPort);

parentPort.once('message', ({ file }: ThreadData) => {
  const reader = new Reader(file, port);
  port.onBatch((batch) => reader.handle(batch));
  port.send({ kind: 'opened' });
  port.flush();
});
