/** A thread that is ended while it links. */
import { parentPort } from 'node:worker_threads';
import { VectorIndex } from '../../../ts/server/native/vector.ts';

const index = new VectorIndex({ dimensions: 64, exactBelow: 0 });
const keys = Float64Array.from({ length: 5000 }, (_, i) => i);
await index.addAll(
  keys,
  Float32Array.from({ length: 5000 * 64 }, (_, i) => Math.sin(i * i)),
);
parentPort?.postMessage('linking');
await index.link();
