/** `npm run format`: writes what `npm run check` would ask for. */
import { spawnSync } from 'node:child_process';
import { writeReferencePages } from '../reference/reference-pages.ts';
import { nativeFiles } from './native-format.ts';

function run(program: string, args: readonly string[]): void {
  const { error, status } = spawnSync(program, args, { stdio: 'inherit' });
  if (error) console.error(`${program}: ${error.message}`);
  if (error || status !== 0) process.exitCode = 1;
}

run('node_modules/.bin/biome', ['check', '--write', '--error-on-warnings']);
run('clang-format', ['-i', ...nativeFiles()]);
await writeReferencePages();
