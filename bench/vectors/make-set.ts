/** The process that makes one set: a job as JSON in its first argument. */
import { makeSet } from './measured-set.ts';
import type { SetJob } from './vector-load.ts';

const { folder, load, seed } = JSON.parse(process.argv[2] ?? '') as SetJob;
await makeSet(folder, load, seed);
