/** Tests of what keeps requests from a backend, without a backend. */
import t from 'tap';
import { Breaker, type Pass } from './breaker.ts';
import { isModelName, offeredModels } from './model-filter.ts';
import { Pace } from './pace.ts';

/** A request goes there. */
function take(breaker: Breaker): Pass {
  const pass = breaker.take();
  if (pass === undefined) throw new Error(`no request may go there for ${breaker.waitMs} ms`);
  return pass;
}

t.test('a breaker opens after five failures in a row, and one probe closes it', async (t) => {
  let now = 1_000_000;
  const breaker = new Breaker(() => now);
  const before = take(breaker);
  for (let i = 0; i < 5; i += 1) {
    t.equal(breaker.state, 'closed');
    breaker.failed(take(breaker));
  }
  t.match(breaker, { state: 'open', waitMs: 10_000 });
  t.equal(breaker.take(), undefined);
  now += 10_000;
  const probe = take(breaker);
  t.match(breaker, { state: 'probing', waitMs: 100 });
  t.equal(breaker.take(), undefined, 'one probe at a time');
  breaker.giveUp(before);
  t.equal(breaker.take(), undefined, 'a request of before is not the probe');
  breaker.failed(probe);
  t.equal(breaker.waitMs, 10_000, 'a probe that fails opens it again');
  now += 10_000;
  breaker.giveUp(take(breaker));
  t.equal(breaker.waitMs, 0, 'a probe that says nothing of the backend lets another one go');
  take(breaker);
  breaker.succeeded();
  t.equal(breaker.state, 'closed');
});

t.test('a breaker opens when half of at least ten fail within 30 seconds', async (t) => {
  let now = 1;
  const breaker = new Breaker(() => now);
  for (let i = 0; i < 4; i++) {
    breaker.succeeded();
    breaker.failed(take(breaker));
  }
  now += 31_000;
  breaker.succeeded();
  breaker.failed(take(breaker));
  t.equal(breaker.state, 'closed', 'what is older does not count');
  for (let i = 0; i < 4; i++) {
    breaker.succeeded();
    breaker.failed(take(breaker));
  }
  t.equal(breaker.state, 'open');
});

const signal = new AbortController().signal;

t.test('those that wait for a place take turns by tenant', async (t) => {
  const pace = new Pace({ concurrent: 1, requests_per_minute: null, tokens_per_minute: null });
  const first = await pace.acquire('red', 1, signal);
  const order: string[] = [];
  const wait = async (tenant: string): Promise<void> => {
    const release = await pace.acquire(tenant, 1, signal);
    order.push(tenant);
    release?.();
  };
  const waiting = ['red', 'red', 'red', 'blue'].map(wait);
  const ending = new AbortController();
  const gone = pace.acquire('blue', 1, ending.signal);
  t.equal(pace.nWaiting, 5);
  ending.abort(new Error('gone'));
  await t.rejects(gone, { message: 'gone' });
  first?.();
  first?.();
  await Promise.all(waiting);
  t.strictSame(order, ['red', 'blue', 'red', 'red']);
  t.match(pace, { nWaiting: 0, nRunning: 0 });
});

t.test('limits by the minute and what the provider asked for are waited for', async (t) => {
  let now = 1_000_000;
  const pace = new Pace({ concurrent: null, requests_per_minute: 2, tokens_per_minute: 100 }, () => now);
  t.equal(pace.waitMs(500), 0, 'what is larger than the whole limit goes when nothing was spent');
  await pace.acquire('red', 60, signal);
  t.equal(pace.waitMs(40), 0);
  t.equal(pace.waitMs(41), 60_001);
  await pace.acquire('red', 10, signal);
  t.equal(pace.waitMs(1), 60_001, 'two requests a minute');
  now += 60_001;
  t.equal(pace.waitMs(1), 0);
  pace.block(5_000);
  t.equal(pace.waitMs(1), 5_000);
  pace.unblock();
  t.equal(pace.waitMs(1), 0);
});

t.test('names of models are like paths that lead nowhere else', async (t) => {
  for (const name of ['gpt-4.1', 'meta-llama/Llama-3:free', 'anthropic.claude-v1:0', 'a/b/c']) t.ok(isModelName(name), name);
  for (const name of ['', '../x', 'a/../b', '/etc', 'a b', 'a\nb', '<script>', 'a//b', 'x'.repeat(300), 'a/', 'ä'])
    t.notOk(isModelName(name), name);
});

t.test('a filter says what is offered, and aliases need no list', async (t) => {
  const listed = ['gpt-4', 'gpt-4-audio', 'o3', '../evil'].map((id) => ({ id }));
  const offered = offeredModels(
    { include: ['gpt-*', 'named'], exclude: ['*-audio'], alias: { fast: 'gpt-4', far: 'other' } },
    listed,
  );
  t.strictSame(
    [...offered].map(([name, { id }]) => [name, id]),
    [
      ['gpt-4', 'gpt-4'],
      ['named', 'named'],
      ['fast', 'gpt-4'],
      ['far', 'other'],
    ],
  );
});
