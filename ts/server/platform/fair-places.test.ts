import t from 'tap';
import { FairPlaces } from './fair-places.ts';

/** Lets everything run that can. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('a tenant holds no more than its share, and others are let in beside it', async (t) => {
  const places = new FairPlaces(4, 3);
  const entered: string[] = [];
  const enter = (tenant: string): Promise<() => void> =>
    places.acquire(tenant).then((release) => {
      entered.push(tenant);
      return release;
    });
  const first = enter('a');
  for (let i = 0; i < 5; i++) void enter('a');
  const other = enter('b');
  void enter('c');
  await settle();
  t.strictSame(entered, ['a', 'a', 'a', 'b']);
  (await other)();
  await settle();
  t.strictSame(entered.slice(4), ['c'], 'the place of b is not for a, which has its share');
  (await first)();
  await settle();
  t.strictSame(entered.slice(5), ['a']);
});

t.test('tenants that wait are served in turn', async (t) => {
  const places = new FairPlaces(1, 1);
  const entered: string[] = [];
  const work = async (tenant: string): Promise<void> => {
    const release = await places.acquire(tenant);
    entered.push(tenant);
    await settle();
    release();
  };
  await Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(work));
  t.strictSame(entered, ['a', 'a', 'b', 'c', 'a', 'b']);
});
