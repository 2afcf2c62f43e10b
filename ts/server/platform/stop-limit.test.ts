import t from 'tap';
import { Log } from './log/log.ts';
import { StopLimit } from './stop-limit.ts';

function limit(limitMs: number, leastMs: number): { limit: StopLimit; lines: string[] } {
  const lines: string[] = [];
  const log = new Log({ level: 'info', format: 'json', sink: { write: (line) => lines.push(line), flush: () => {} } });
  return { limit: new StopLimit(log, limitMs, leastMs), lines };
}

t.test('a part that never stops is left behind, and the log names it', async (t) => {
  const { limit: stopping, lines } = limit(20, 0);
  await stopping.within('module data', () => new Promise(() => undefined));
  t.match(lines.join(''), /"level":"error".*did not stop in time.*"part":"module data"/);
});

t.test('when others have used up the time a part has a little of its own', async (t) => {
  const { limit: stopping, lines } = limit(0, 20_000);
  let isStopped = false;
  await stopping.within('jobs', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    isStopped = true;
  });
  t.ok(isStopped);
  t.strictSame(lines, []);
});

t.test('a failure is passed on', async (t) => {
  const failing = async () => {
    throw new Error('the disk is gone');
  };
  await t.rejects(limit(1_000, 0).limit.within('storage', failing), { message: 'the disk is gone' });
});
