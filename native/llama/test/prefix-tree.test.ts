/** Random operations on the radix tree of prefixes give what a plain list of all owners gives (prefix_tree_test.cpp). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { noReferences, referenceProgram } from './reference.ts';

const run = promisify(execFile);

t.test('the longest common prefixes are those that a plain list finds', { skip: noReferences() }, async (t) => {
  const program = await referenceProgram('prefix-tree-test');
  for (const seed of ['1', '2', '3']) {
    const { stdout } = await run(program, [seed, '20000']);
    t.match(stdout, /^20000 operations, \d{5,} matches, 0 nodes left$/m, `seed ${seed}`);
  }
});
