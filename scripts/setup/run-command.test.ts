import { spawn } from 'node:child_process';
import t from 'tap';
import { runCommand } from './run-command.mjs';

t.test('output comes as it is printed and whole at the end', async (t) => {
  const seen: string[] = [];
  const all = await runCommand('sh', ['-c', 'echo one; echo two >&2'], { onText: (text) => seen.push(text) });
  t.match(all, /one\n/);
  t.equal(seen.join('').length, all.length);
});

t.test('a failure shows the output, the command and the exit code', async (t) => {
  const message = /no such option\n'sh -c .*' ended with exit code 3/;
  await t.rejects(runCommand('sh', ['-c', 'echo no such option; exit 3']), { name: 'SetUpError', message });
});

t.test('a program that is absent is named', async (t) => {
  await t.rejects(runCommand('svc-no-such-program', []), {
    name: 'SetUpError',
    message: /svc-no-such-program could not be started/,
  });
});

t.test('a signal that ends us ends what the program started', async (t) => {
  const module = new URL('./run-command.mjs', import.meta.url).href;
  // The grandchild prints its id and would sleep on, as ninja does behind cmake.
  const program = `const { runCommand } = await import(${JSON.stringify(module)});
    await runCommand('sh', ['-c', 'sleep 1000 & echo $!; wait'], { onText: (text) => console.log(text.trim()) });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const grandchild = await new Promise<number>((resolve) => child.stdout.once('data', (text) => resolve(Number(text))));
  child.kill('SIGTERM');
  t.equal(await ended, 143);
  while (isRunning(grandchild)) await new Promise((done) => setImmediate(done));
  t.pass('the grandchild is gone');
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
