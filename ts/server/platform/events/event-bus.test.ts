import t from 'tap';
import Type from 'typebox';
import { Log } from '../log/log.ts';
import { systemScope, tenantScope } from '../storage/index.ts';
import { EventBus } from './event-bus.ts';
import { EventType } from './event-type.ts';

const cleared = new EventType('cache.cleared', Type.Object({ key: Type.String() }));
const filled = new EventType('cache.filled', Type.Object({ key: Type.String() }));

function open() {
  const lines: string[] = [];
  const bus = new EventBus(
    new Log({ level: 'info', format: 'json', sink: { write: (line) => lines.push(line), flush: () => {} } }),
  );
  return { bus, lines };
}

t.test('subscribers of a type hear it before publish returns, until they unsubscribe', async (t) => {
  const { bus } = open();
  const heard: unknown[] = [];
  const unsubscribe = bus.subscribe(cleared, (event) => void heard.push(event));
  bus.publish(tenantScope('red'), cleared, { key: 'a' });
  bus.publish(systemScope(), filled, { key: 'b' });
  t.strictSame(heard, [{ type: 'cache.cleared', tenant: 'red', payload: { key: 'a' } }]);
  unsubscribe();
  bus.publish(systemScope(), cleared, { key: 'c' });
  t.equal(heard.length, 1);
});

t.test('a subscriber that fails hurts neither the publisher nor the others, and is logged', async (t) => {
  const { bus, lines } = open();
  const heard: string[] = [];
  bus.subscribe(cleared, () => {
    throw new Error('thrown at once');
  });
  bus.subscribe(cleared, async () => {
    throw new Error('thrown later');
  });
  bus.subscribe(cleared, ({ payload }) => void heard.push(payload.key));
  bus.publish(systemScope(), cleared, { key: 'a' });
  await new Promise(setImmediate);
  t.strictSame(heard, ['a']);
  for (const text of ['thrown at once', 'thrown later']) t.ok(lines.some((line) => line.includes(text)));
});

t.test('what does not fit its type is the publisher’s mistake', async (t) => {
  const { bus } = open();
  t.throws(() => bus.publish(systemScope(), cleared, { key: 1 } as never), /cache\.cleared.*`key` must be a string/);
  t.throws(() => new EventType('Cleared', Type.Object({})), /no name of an event/);
});
