/** A member asks another controller beside one that hangs, and orders of one alone. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { encode } from '../link/frames.ts';
import { openNodeCertificate } from '../link/node-certificate.ts';
import type { Controller } from './membership.ts';
import { RegistryClient } from './registry-client.ts';

/** What a controller was asked, and how it answers. */
async function openController(t: Test, id: string, answer: RequestListener) {
  const own = await openNodeCertificate(newFolder(t), id);
  const server = createServer({ cert: own.cert, key: own.key, minVersion: 'TLSv1.3' }, answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { id, address: `127.0.0.1:${port}`, certificates: [own.cert] } satisfies Controller;
}

async function openClient(t: Test, controllers: readonly Controller[]): Promise<RegistryClient> {
  const client = new RegistryClient(controllers, await openNodeCertificate(newFolder(t), 'member'));
  t.teardown(() => client.close());
  return client;
}

t.test('one answers beside those that hang, and is asked first from then on', async (t) => {
  let nHung = 0;
  const hung = (): void => {
    nHung += 1;
  };
  const controllers = await Promise.all([
    openController(t, 'a', hung),
    openController(t, 'b', hung),
    openController(t, 'c', (_request, response) => void response.end(encode({ value: [] }))),
  ]);
  const client = await openClient(t, controllers);
  t.strictSame(await client.certificates(), []);
  t.equal(nHung, 2);
  t.strictSame(await client.orders(), []);
  t.equal(nHung, 2);
});

t.test('a controller that refuses is followed by the next at once, and the last failure is told', async (t) => {
  const refuse: RequestListener = (_request, response) => void response.writeHead(503).end();
  const [a, b] = await Promise.all([openController(t, 'a', refuse), openController(t, 'b', refuse)]);
  const client = await openClient(t, [a, b]);
  await t.rejects(client.nodes(), { message: 'a controller answers 503' });
  await t.rejects((await openClient(t, [])).nodes(), { message: 'there is no controller' });
});

t.test('an order is taken at one controller, however long that thinks', async (t) => {
  let nOthers = 0;
  const slow = await openController(t, 'a', (_request, response) => {
    setTimeout(() => response.end(encode({ value: true })), 600);
  });
  const other = await openController(t, 'b', (_request, response) => {
    nOthers += 1;
    response.end(encode({ value: false }));
  });
  const client = await openClient(t, [slow, other]);
  t.equal(await client.take('order'), true);
  t.equal(nOthers, 0);
});
