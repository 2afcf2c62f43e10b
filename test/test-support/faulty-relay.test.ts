import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { FaultyRelay } from './faulty-relay.ts';

/** A server that sends back what it gets, behind a relay, and a connection to it. */
async function open(t: Test): Promise<{ relay: FaultyRelay; client: Socket; dial(): Promise<Socket>; server: Socket }> {
  const sockets: Socket[] = [];
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined).on('data', (bytes) => socket.write(bytes));
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const relay = await FaultyRelay.open((echo.address() as AddressInfo).port);
  const dial = async (): Promise<Socket> => {
    const socket = connect({ port: relay.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    await once(socket, 'connect');
    sockets.push(socket);
    return socket;
  };
  t.teardown(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
    echo.close();
  });
  const client = await dial();
  await said(client, 'hello');
  return { relay, client, dial, server: sockets.find((socket) => socket !== client) as Socket };
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

/** Sends a text, and resolves when it is back. */
async function said(socket: Socket, text: string): Promise<void> {
  let heard = '';
  socket.write(text);
  while (heard !== text) heard += String((await once(socket, 'data'))[0]);
}

t.test('connections are cut on both sides, and new ones work', async (t) => {
  const { relay, client, server, dial } = await open(t);
  const ends = Promise.all([closed(client), closed(server)]);
  relay.cut();
  await ends;
  await said(await dial(), 'again');
  t.ok(client.errored, 'as by a reset');
});

t.test('what is held arrives later, in order, and a connection of another dialer goes on', async (t) => {
  const { relay, client, dial } = await open(t);
  relay.hold((from) => from === client.localPort);
  let isBack = false;
  const back = said(client, 'one two').then(() => {
    isBack = true;
  });
  await said(await dial(), 'meanwhile');
  t.equal(isBack, false);
  relay.heal();
  await back;
});

t.test('an end that is held is not told', async (t) => {
  const { relay, client, server, dial } = await open(t);
  relay.hold((from) => from === client.localPort);
  let isTold = false;
  server.on('end', () => {
    isTold = true;
  });
  client.end();
  await said(await dial(), 'meanwhile');
  t.equal(isTold, false);
  const ended = once(server, 'end');
  relay.heal();
  await ended;
});

t.test('one direction is ended alone', async (t) => {
  const { relay, client, server } = await open(t);
  const ended = once(client, 'end');
  relay.halfClose('dialer');
  await ended;
  const heard = once(server, 'data');
  client.write('still');
  t.equal(String((await heard)[0]), 'still');
});

t.test('bytes are delayed', async (t) => {
  const { relay, client } = await open(t);
  relay.delayMs = 40;
  const from = performance.now();
  await said(client, 'late');
  t.ok(performance.now() - from >= 75, 'there and back');
});
