/** What may be the beginning of a stop string is held back, no more and no less (stop_search_test.cpp). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { noReferences, referenceProgram } from './reference.ts';

const run = promisify(execFile);

t.test('as much is held back as a search by trying every length finds', { skip: noReferences() }, async (t) => {
  const program = await referenceProgram('stop-search-test');
  for (const seed of ['1', '2', '3']) t.match((await run(program, [seed, '20000'])).stdout, /^20000 texts$/m, `seed ${seed}`);
});
