import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { findNode, runsTypeScript, runTypeScript } from './node-runtime.mjs';

function programOf(source: string) {
  const program = join(mkdtempSync(join(tmpdir(), 'svc-runtime-')), 'program.ts');
  writeFileSync(program, source);
  return program;
}

/** Starts a program through runTypeScript in a process of its own. */
function start(source: string, ...args: string[]) {
  const program = programOf(source);
  const shim = `const { runTypeScript } = await import(${JSON.stringify(new URL('./node-runtime.mjs', import.meta.url).href)});
    await runTypeScript(${JSON.stringify(program)}, ${JSON.stringify(args)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', shim], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return { child, ended };
}

t.test('type stripping starts with 22.18', async (t) => {
  t.same(['20.20.2', '22.17.1', '22.18.0', '24.0.0'].map(runsTypeScript), [false, false, true, true]);
});

t.test('the Node among the dependencies runs TypeScript', async (t) => {
  t.match(findNode(), /node$/);
});

t.test('arguments and exit code pass through', async (t) => {
  const { child, ended } = start(
    'const code: number = Number(process.argv[2]); console.log(process.argv.slice(2).join()); process.exit(code);',
    '7',
    'a b',
  );
  t.equal(await text(child.stdout), '7,a b\n');
  t.equal(await ended, 7);
});

t.test('whoever asks for what the program prints has all of it when the program has ended', async (t) => {
  let output = '';
  await runTypeScript(programOf("process.stdout.write('ä'.repeat(100_000));"), [], { onOutput: (text) => (output += text) });
  t.equal(output, 'ä'.repeat(100_000));
});

t.test('SIGTERM reaches the program, which ends in its own way', async (t) => {
  const { child, ended } = start(`
    process.on('SIGTERM', () => process.exit(0));
    setInterval(() => {}, 1000);
    console.log('ready');`);
  child.stdout.once('data', () => child.kill('SIGTERM'));
  t.equal(await ended, 0);
});

t.test('a program that a signal ended has the exit code that shells give', async (t) => {
  const { ended } = start("process.kill(process.pid, 'SIGKILL'); setInterval(() => {}, 1000);");
  t.equal(await ended, 137);
});
