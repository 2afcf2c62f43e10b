/** A server of this node among the backends that administrators register. */
import t from 'tap';
import { AddressPolicy } from '../../../platform/network/address-policy.ts';
import { BackendRegistry } from './backend-registry.ts';

t.test('a server of this node is offered without a row, through its states, until it is detached', async (t) => {
  const registry = new BackendRegistry({
    store: { backends: async () => [], routes: async () => [] } as never,
    policy: new AddressPolicy({ trusted: [] }),
    userAgent: 'test',
    env: {},
    nodeId: () => 'n1',
    sealingKey: () => Promise.reject(new Error('nothing is sealed')),
  });
  t.equal(registry.isEmpty, true);
  const model = { id: 'large', contextLength: 4096 };
  const attached = registry.attach({ id: 'split-large', address: { port: 1, key: 'k' }, model });
  await registry.reload();
  t.strictSame([registry.isEmpty, registry.isOwn('split-large'), [...registry.names().keys()]], [false, true, ['large']]);
  const backend = registry.find('split-large');
  for (let i = 0; i < 5; i++) {
    const pass = backend?.breaker('large').take();
    if (pass !== undefined) backend?.breaker('large').failed(pass);
  }
  attached.setState('a node was lost');
  t.match(backend, { reason: { code: 'unreachable', detail: 'a node was lost' } });
  attached.setState(undefined);
  t.strictSame([backend?.state('large'), backend?.breaker('large').waitMs], ['ok', 0], 'it is asked again at once');
  const keeps = (...tenants: string[]) => tenants.map((tenant) => registry.find('split-large')?.facts.keepsPromptsOf?.(tenant));
  t.strictSame(
    keeps('a', 'a', 'b', 'a'),
    [true, true, false, false],
    'a second tenant finds nothing of the first, nor the other way',
  );
  attached.begin({ port: 2, key: 'another' });
  t.match(
    registry.find('split-large')?.facts,
    { baseUrl: 'http://127.0.0.1:2/v1' },
    'the next process has a port and a key of its own',
  );
  t.strictSame([registry.find('split-large')?.facts.key(), ...keeps('b')], ['another', true]);
  await attached.detach();
  t.strictSame([registry.isEmpty, registry.find('split-large'), registry.names().size], [true, undefined, 0]);
});
