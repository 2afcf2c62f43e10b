import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findProgram } from '../../scripts/setup/tools.mjs';
import { newestGlibc } from '../tree/needed-libraries.ts';
import { refuseNewerNeed } from './system-libraries.ts';

const system = '/lib/x86_64-linux-gnu';
const canRun = process.platform === 'linux' && process.arch === 'x64' && findProgram('cc') && findProgram('readelf');

t.test('versions of the C library are compared as numbers', async (t) => {
  t.equal(newestGlibc(['2.4', '2.38', '2.17']), '2.38');
  t.equal(newestGlibc([]), undefined);
});

t.test(
  'an image whose C library is older than its program needs is refused, with both versions',
  {
    skip: canRun ? false : 'needs x86_64 Linux with a compiler',
  },
  async (t) => {
    const root = t.testdir({ 'part.c': '#include <stdlib.h>\nint f(void) { return atoi("1"); }\n', old: {} });
    const part = join(root, 'part.so');
    execFileSync('cc', ['-shared', '-fPIC', '-o', part, join(root, 'part.c')]);
    await t.resolves(refuseNewerNeed(part, root, system));
    // The same library with no version that the part could ask for.
    const libc = readFileSync(realpathSync(join(system, 'libc.so.6'))).toString('latin1');
    writeFileSync(
      join(root, 'old/libc.so.6'),
      libc.replaceAll(/GLIBC_2\.\d+\0/g, (name) => `GLIBC_1.${'0'.repeat(name.length - 9)}\0`),
      'latin1',
    );
    await t.rejects(refuseNewerNeed(part, root, join(root, 'old')), {
      message: /part\.so needs version 2\.\d+ of the C library, and that of .*old is 1\.0+/,
    });
    copyFileSync(realpathSync(join(system, 'libc.so.6')), join(root, 'old/libc.so.6'));
    await t.resolves(refuseNewerNeed(part, root, join(root, 'old')));
  },
);
