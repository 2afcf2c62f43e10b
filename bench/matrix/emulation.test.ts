import { execFileSync } from 'node:child_process';
import t from 'tap';
import { launch } from '../contenders/launch.ts';
import { type Condition, whyNot } from './conditions.ts';
import { emulate } from './emulation.ts';

/** What a program prints that is started as the servers are. */
async function see(condition: Condition, program: string, args: string[]): Promise<string> {
  const emulation = emulate(condition);
  const before = { ...process.env };
  try {
    Object.assign(process.env, emulation.env);
    const started = launch(program, args);
    return execFileSync(started.program, started.args, { encoding: 'utf8' });
  } finally {
    process.env = before;
    await emulation.end();
  }
}

t.test('one core is what a server sees', { skip: whyNot({ name: 'one', isOneCore: true }) ?? false }, async (t) => {
  const script = 'console.log(require("node:os").availableParallelism())';
  t.equal((await see({ name: 'one', isOneCore: true }, process.execPath, ['-e', script])).trim(), '1');
});

t.test('a quota is a cgroup of its own, gone afterwards', { skip: whyNot({ name: 'half', quota: 0.5 }) ?? false }, async (t) => {
  const read = ['/proc/self/cgroup'];
  t.match(await see({ name: 'half', quota: 0.5 }, 'cat', read), new RegExp(`svc-bench-${process.pid}`));
  t.notMatch(execFileSync('cat', read, { encoding: 'utf8' }), /svc-bench/);
  emulate({ name: 'again', quota: 0.25 }).end();
});

t.test('a busy neighbour ends with the emulation', async () => {
  await emulate({ name: 'busy', neighbours: 1 }).end();
});
