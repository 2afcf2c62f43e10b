/** The thread that cuts documents into passages and holds the indexes of knowledge bases: a search is a few milliseconds of computing. */
import { parentPort, workerData } from 'node:worker_threads';
import { IndexHost } from '../server/domains/retrieval/index/index-host.ts';
import type { IndexNotice, IndexReply, IndexRequest } from '../server/domains/retrieval/index/index-messages.ts';
import type { VectorStorageOptions } from '../server/domains/retrieval/index/vector-index.ts';
import { VectorStorage } from './vector-storage.ts';

const send = (message: IndexReply | IndexNotice) => parentPort?.postMessage(message);
const host = new IndexHost(new VectorStorage(workerData as VectorStorageOptions, (notice) => send({ notice })));

parentPort?.on('message', (request: IndexRequest) => {
  const reply = host.answer(request);
  if (reply instanceof Promise) void reply.then(send);
  else send(reply);
});
