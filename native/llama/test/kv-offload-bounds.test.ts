/** Saved states stay within their memory and disk, and so does what they are found by (kv_offload_test.cpp). */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { noReferences, referenceProgram } from './reference.ts';

const run = promisify(execFile);

t.test('memory, disk and index are bounded, and what comes back is what was saved', { skip: noReferences() }, async (t) => {
  const program = await referenceProgram('kv-offload-test');
  for (const seed of ['1', '2', '3']) {
    const folder = mkdtempSync(join(tmpdir(), 'kv-offload-'));
    const { stdout } = await run(program, [seed, '5000', folder]);
    t.match(stdout, /^5000 operations, \d{3,} states read, \d{2,} kept$/m, `seed ${seed}`);
    t.strictSame(readdirSync(folder), [], 'its files are gone');
  }
});
