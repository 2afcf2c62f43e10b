import t from 'tap';
import { KnownClients } from './attempt-limit.ts';

t.test('so many clients are remembered, and of more the longest unused are forgotten', async (t) => {
  const known = new KnownClients();
  for (let i = 0; i < 20_000; i++) known.add(`client ${i}`);
  t.ok(known.has('client 0'), 'and is used now');
  known.add('another');
  t.notOk(known.has('client 1'));
  t.ok(known.has('client 0'));
  t.ok(known.has('another'));
});
