import t from 'tap';
import { heedSignals, Interrupted } from './interruption.ts';
import { runProgram } from './program.ts';

const run = (script: string) => runProgram(process.execPath, ['--eval', script]);

t.test('a program gives what it printed, or fails', async (t) => {
  t.equal(await run('console.log(1)'), '1\n');
  await t.rejects(run('process.exit(3)'), { code: 3 });
});

t.test('SIGTERM kills what runs, and lets nothing more start', async (t) => {
  heedSignals();
  const running = run('setTimeout(() => {}, 60_000)');
  process.emit('SIGTERM');
  await t.rejects(running, new Interrupted('SIGTERM'));
  await t.rejects(run('console.log(1)'), new Interrupted('SIGTERM'));
  t.equal(new Interrupted('SIGTERM').exitCode, 143);
});
