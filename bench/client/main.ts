/** The load client's process: one job as JSON in its first argument, one sample as JSON on its standard output. */
import type { ChatLoad } from '../load/load.ts';
import { runClosedLoop } from './closed-loop.ts';

const { url, load, seed } = JSON.parse(process.argv[2] ?? '') as { url: string; load: ChatLoad; seed: number };
console.log(JSON.stringify(await runClosedLoop(url, load, seed)));
