/** The thread that applies rules of detection to collected lines. */
import { parentPort, workerData } from 'node:worker_threads';
import { DetectionHost, type DetectionRequest } from '../server/domains/logs/detection/detection-host.ts';

const { file } = workerData as { file: string };
const host = new DetectionHost(file);

parentPort?.on(
  'message',
  (request: DetectionRequest) => void host.answer(request).then((reply) => parentPort?.postMessage(reply)),
);
