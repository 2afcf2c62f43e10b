import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readTimes, runTestProcess } from './test-process.ts';

function script(t: Test, source: string): string {
  return join(t.testdir({ 'one.mjs': source }), 'one.mjs');
}

const options = { env: process.env, timeoutSeconds: 60 };

t.test('what a process and its children used is told', async (t) => {
  const burn = 'const until = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < until);';
  const both = `import { spawnSync } from 'node:child_process'; ${burn} spawnSync(process.execPath, ['-e', ${JSON.stringify(burn)}]);`;
  const { cpuSeconds, exitCode } = await runTestProcess([script(t, both)], options);
  t.equal(exitCode, 0);
  t.ok(cpuSeconds >= 0.6, `${cpuSeconds} s`);
  t.equal(readTimes('0m1.000000s 0m1.00s\n1m2.500000s 0m0.250000s\n'), 62.75);
});

t.test('its output and its exit code come back', async (t) => {
  const run = await runTestProcess([script(t, "console.log('hello'); process.exitCode = 3;")], options);
  t.match(run, { output: 'hello\n', exitCode: 3 });
});

t.test('one that takes too long is told so, and is ended with what it started', async (t) => {
  // What it starts holds its output: the run would not end before that does.
  const stays = `import { spawn } from 'node:child_process'; spawn('sleep', ['600'], { stdio: 'inherit' });
    process.on('SIGALRM', () => process.exit(9)); setInterval(() => {}, 1000);`;
  const run = await runTestProcess([script(t, stays)], { ...options, timeoutSeconds: 1 });
  t.equal(run.exitCode, 9);
});
