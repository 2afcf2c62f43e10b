import t from 'tap';
import { storedCaller } from './background-request.ts';

t.test('a token that an earlier release stored with a request stays limited', async (t) => {
  const stored = { tenant: 'red', kind: 'capability', models: ['m'], namespaces: [] } as const;
  t.strictSame(storedCaller(stored), { tenant: 'red', kind: 'capability', limits: { models: ['m'], namespaces: [] } });
});

t.test('a caller that is stored now comes back as it is', async (t) => {
  t.strictSame(storedCaller({ tenant: 'red', limits: { models: ['m'] } }), { tenant: 'red', limits: { models: ['m'] } });
  t.strictSame(storedCaller({ tenant: 'red' }), { tenant: 'red' });
  t.strictSame(storedCaller(undefined), {});
});
