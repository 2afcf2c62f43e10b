import t from 'tap';
import { Log, RecentLines } from './log.ts';

const nowhere = { write: () => {}, flush: () => {} };

t.test('the last two thousand lines are kept, in their order', async (t) => {
  const recent = new RecentLines();
  for (let n = 1; n <= 5_000; n++) recent.add('info', `{"n":${n}}`);
  const lines = recent.list();
  t.equal(lines.length, 2_000);
  t.match(lines[0], { seq: 3_001, json: '{"n":3001}' });
  t.match(lines.at(-1), { seq: 5_000 });
});

t.test('long lines keep fewer, and one that is longer than all is kept alone', async (t) => {
  const recent = new RecentLines();
  for (let n = 0; n < 100; n++) recent.add('info', 'x'.repeat(100_000));
  t.equal(recent.list().length, 20);
  recent.add('error', 'y'.repeat(3_000_000));
  t.strictSame(
    recent.list().map(({ level }) => level),
    ['error'],
  );
  recent.add('info', '{}');
  t.equal(recent.list().length, 1, 'it goes with the next');
});

t.test('followers hear what comes until they leave', async (t) => {
  const recent = new RecentLines();
  const heard: number[] = [];
  const stop = recent.follow(({ seq }) => heard.push(seq));
  recent.add('info', '{}');
  stop();
  recent.add('info', '{}');
  t.strictSame(heard, [1]);
});

t.test('what the log redacts is redacted, in both formats, and the level counts at once for every child', async (t) => {
  for (const format of ['json', 'text'] as const) {
    const recent = new RecentLines();
    const log = new Log({ level: 'info', format, sink: nowhere, recent });
    const child = log.child({ module: 'x' });
    child.info('with Bearer abcdefghijk', { password: 'secret', path: '/a' });
    child.debug('unheard');
    log.setLevel('debug');
    child.debug('heard');
    log.setLevel('error');
    child.warn('unheard');
    const lines = recent.list().map(({ json }) => JSON.parse(json) as Record<string, unknown>);
    t.match(lines, [
      { level: 'info', message: 'with Bearer [redacted]', module: 'x', password: '[redacted]', path: '/a' },
      { level: 'debug', message: 'heard' },
    ]);
    t.equal(lines.length, 2);
  }
});
