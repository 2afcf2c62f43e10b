/** Calls count from the moment they are asked for: what they say is read aloud before anybody is called. */
import t from 'tap';
import { ANONYMOUS } from '../../../platform/http/principal.ts';
import type { AccountRow } from '../tables.ts';
import { Calls } from './calls.ts';

t.test('no more calls begin than a node makes at a time, and one that fails makes way', async (t) => {
  const reading = Promise.withResolvers<Int16Array>();
  const parts = {
    service: { usableAccount: async () => ({}) as AccountRow },
    speak: () => reading.promise,
    nodeId: () => 'node',
    now: () => 0,
  };
  const calls = new Calls(parts as unknown as ConstructorParameters<typeof Calls>[0]);
  const ask = () => calls.start(ANONYMOUS, { account_id: 'a', to: '200', say: 'hello' });
  const codeOf = (error: { code?: string; message: string }) => error.code ?? error.message;
  const begun = Array.from({ length: 20 }, () => ask().then(() => 'called', codeOf));
  for (let i = 0; i < 5; i++) await t.rejects(ask(), { code: 'calls_busy' });
  reading.reject(new Error('no voice'));
  t.strictSame([...new Set(await Promise.all(begun))], ['no voice']);
  await t.rejects(ask(), /no voice/);
});
