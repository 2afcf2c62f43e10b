/** A database thread that opens and then ends at the first thing that it is asked. */
import { parentPort } from 'node:worker_threads';

parentPort?.once('message', () => {
  parentPort?.postMessage([{ kind: 'opened' }]);
  parentPort?.once('message', () => process.exit(3));
});
