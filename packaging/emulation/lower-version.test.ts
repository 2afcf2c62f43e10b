import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { findProgram } from '../../scripts/setup/tools.mjs';
import { lowerVersion } from './lower-version.ts';

const skip = process.platform !== 'linux' || (findProgram('cc') === undefined && 'there is no compiler');

t.test('a library asks for the older version afterwards, and is the same in all else', { skip }, async (t) => {
  const folder = t.testdir({
    'part.c': '#include <stdlib.h>\n#include <pthread.h>\nint f(void) { return pthread_create(0, 0, 0, 0) + atoi("1"); }\n',
  });
  const file = join(folder, 'part.so');
  execFileSync('cc', ['-shared', '-fPIC', '-o', file, join(folder, 'part.c')]);
  const library = readFileSync(file);
  const said = (path: string) => execFileSync('readelf', ['-V', '-W', path], { encoding: 'utf8' });
  const versions = [...new Set(said(file).match(/GLIBC_2\.\d+(\.\d+)?/g))];
  t.ok(versions.length >= 2, versions.join(', '));
  const [older = '', newer = ''] = versions;
  const lowered = lowerVersion(library, newer, older);
  writeFileSync(file, lowered);
  t.notMatch(
    said(file).replace(/Version symbols section[\s\S]*?(?=Version needs)/, ''),
    new RegExp(`Name: ${newer.replaceAll('.', '\\.')} `),
  );
  t.equal(lowered.length, library.length);
  t.ok(lowerVersion(library, 'GLIBC_9.99', older).equals(library), 'what is not asked for changes nothing');
  t.throws(() => lowerVersion(library, newer, 'GLIBC_9.99'), /and not for GLIBC_9.99/);
});
