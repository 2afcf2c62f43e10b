/** The embeddings client's process: one job as JSON in its first argument, one sample as JSON on its standard output. */
import { type EmbeddingJob, embedInClosedLoop } from './client.ts';

const sample = await embedInClosedLoop(JSON.parse(process.argv[2] ?? '') as EmbeddingJob);
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ ...sample, clientCpuSeconds: (user + system) / 1e6 }));
// Connections that are kept alive must not keep the process.
process.exit(0);
