/** A thread of collected logs: one of them makes the index, another one searches and follows, so that neither waits for the other. */
import { parentPort, workerData } from 'node:worker_threads';
import { LogHost } from '../server/domains/logs/index/log-host.ts';
import type { LogThreadReply, LogThreadRequest, TailNotice } from '../server/domains/logs/index/log-messages.ts';

const send = (message: LogThreadReply | { notice: TailNotice }) => parentPort?.postMessage(message);
const { folder, storeUrl } = workerData as { folder: string; storeUrl: string };
const host = new LogHost(folder, storeUrl, (notice) => send({ notice }));

parentPort?.on('message', (request: LogThreadRequest) => void host.answer(request).then(send));
