/** A process that replaces three files of a folder together, again and again, until it is killed. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commitSwap, openStaging } from '../staged-swap.ts';

const folder = process.argv[2] ?? '';
console.log('ready');
for (let n = 0; ; n += 1) {
  const staging = await openStaging(folder);
  mkdirSync(join(staging, 'b'));
  for (const name of ['a', join('b', 'inside'), 'c']) writeFileSync(join(staging, name), String(n));
  // Left by what a program does with the files between two swaps.
  writeFileSync(join(folder, 'log'), '');
  if (n % 2 === 0) rmSync(join(staging, 'c'));
  await commitSwap(folder, ['log', 'c']);
}
