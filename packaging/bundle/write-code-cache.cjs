// Writes one code cache of a bundle: node --hash-seed=1 --random-seed=1 write-code-cache.cjs DIST PROFILE. Strings are hashed with a seed
// that differs from process to process unless it is given; the flags are put back before the cache is made, since V8 refuses a cache that
// was made under other flags than it runs under. The program sets one itself, after its cache was read.
'use strict';
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const v8 = require('node:v8');

const [dist, profile] = process.argv.slice(2);
// Code that was compiled stays, however long the rehearsal takes.
v8.setFlagsFromString('--no-flush-bytecode');

const rehearsals = {
  command: (program) => program.main(['version', '--json']),
  serve: (program) => program.rehearseStart(),
};

const putBack = ['--flush-bytecode', '--hash-seed=0', '--random-seed=0', '--no-enable-experimental-regexp-engine'];

async function main() {
  const { compileProgram, runProgram } = require(join(dist, 'load-program.cjs'));
  // Where it is installed, and not where it is made.
  const script = compileProgram(undefined, '/usr/lib64/svc/dist/program.cjs');
  await rehearsals[profile](runProgram(script));
  for (const flag of putBack) v8.setFlagsFromString(flag);
  writeFileSync(join(dist, `program.${profile}.cache`), script.createCachedData());
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
