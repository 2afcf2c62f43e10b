import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { findProgram, requireBuildTools } from './tools.mjs';

/** A PATH on which only these programs are. */
function pathWith(...programs: string[]): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'svc-path-'));
  for (const program of programs) {
    writeFileSync(join(folder, program), '#!/bin/sh\n');
    chmodSync(join(folder, program), 0o755);
  }
  return { PATH: folder };
}

t.test('a machine with git, cmake, a compiler and make is enough', async (t) => {
  t.doesNotThrow(() => requireBuildTools(pathWith('git', 'cmake', 'g++', 'gcc', 'make')));
});

const all = ['git', 'cmake', 'g++', 'gcc', 'ninja'];
for (const [missing, debian, fedora] of [
  ['git', 'git', 'git'],
  ['cmake', 'cmake', 'cmake'],
  ['g++', 'g++', 'gcc-c++'],
  ['gcc', 'gcc', 'gcc'],
  ['ninja', 'ninja-build', 'ninja-build'],
] as const) {
  t.test(`a machine without ${missing} is told the packages in one line`, async (t) => {
    const env = pathWith(...all.filter((program) => program !== missing));
    let message = '';
    try {
      requireBuildTools(env);
    } catch (error) {
      message = (error as Error).message;
    }
    t.match(message, `apt install ${debian})`);
    t.match(message, `dnf install ${fedora})`);
    t.notMatch(message, '\n');
  });
}

t.test('compilers named by CC and CXX count', async (t) => {
  t.doesNotThrow(() => requireBuildTools({ ...pathWith('git', 'cmake', 'ninja'), CC: 'mycc', CXX: 'myc++' }));
});

t.test('a file without the right to run is no program', async (t) => {
  const env = pathWith('git');
  chmodSync(join(env['PATH'] ?? '', 'git'), 0o644);
  t.equal(findProgram('git', env), undefined);
});
