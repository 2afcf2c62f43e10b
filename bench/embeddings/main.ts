/** The embeddings client's process: one job as JSON in its first argument, one sample as JSON on its standard output. */
import { type EmbeddingJob, embedInClosedLoop } from './client.ts';

console.log(JSON.stringify(await embedInClosedLoop(JSON.parse(process.argv[2] ?? '') as EmbeddingJob)));
// Connections that are kept alive must not keep the process.
process.exit(0);
