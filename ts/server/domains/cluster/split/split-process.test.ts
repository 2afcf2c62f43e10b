/** The two ends of a tunnel, with programs that say what they hear in place of those of llama.cpp. */
import { once } from 'node:events';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { type NodeCertificate, openNodeCertificate } from '../link/node-certificate.ts';
import { SplitProcess } from './split-process.ts';

const HOST = '127.0.0.1';
/** Answers what it hears in capitals; a line `end` ends it. */
const tensorHost = `require('node:net').createServer((socket) => socket.on('data', (text) => {
  if (String(text) === 'end') process.exit(3);
  socket.write(String(text).toUpperCase());
})).listen(process.argv[1], '127.0.0.1');`;
/** Asks its tunnel, and has the answer as its health. */
const borrower = `const [rpc, port] = process.argv.slice(1);
require('node:net').connect(rpc.split(':')[1], '127.0.0.1', function () {
  this.write('ping');
  this.on('data', (text) => require('node:http').createServer((_, answer) => answer.writeHead(String(text) === 'PING' ? 200 : 500).end()).listen(port));
  this.on('close', () => process.exit(4));
});`;
/** Is healthy, and says nothing of its work. */
const hangs = `require('node:http').createServer(({ url }, answer) => url === '/health' && answer.end()).listen(process.argv[1], '127.0.0.1')`;

function program(script: string, ...args: string[]) {
  return { file: process.execPath, args: ['--no-warnings', '-e', script, ...args] };
}

function serve(t: Test, { cert, key }: NodeCertificate, to: NodeCertificate, idleMs = 60_000): SplitProcess {
  const { fingerprint } = to;
  const running = new SplitProcess({
    command: program(tensorHost, '{port}'),
    env: {},
    cert,
    key,
    serve: { host: HOST, port: 0, fingerprint, idleMs },
  });
  t.teardown(() => running.end());
  return running;
}

/** All that the tunnel says to whoever shows that certificate; empty: nothing. */
async function say(port: number, own: Partial<NodeCertificate>, words: string): Promise<string> {
  const socket = tlsConnect({ host: HOST, port, ...own, rejectUnauthorized: false }, () => socket.write(words));
  socket.on('error', () => undefined);
  let heard = '';
  socket.on('data', (bytes: Buffer) => {
    heard += bytes.toString();
    socket.end();
  });
  await once(socket, 'close');
  return heard;
}

t.test('a program is reached through the tunnel', { timeout: 60_000 }, async (t) => {
  const folder = newFolder(t);
  const [back, front, other] = (await Promise.all(['b', 'f', 'o'].map((id) => openNodeCertificate(join(folder, id), id)))) as [
    NodeCertificate,
    NodeCertificate,
    NodeCertificate,
  ];

  await t.test('by the one certificate that it is for', async (t) => {
    const port = await serve(t, back, front).port;
    t.equal(await say(port, front, 'ping'), 'PING');
    t.equal(await say(port, other, 'ping'), '', 'another node');
    t.equal(await say(port, {}, 'ping'), '', 'without a certificate');
  });

  await t.test('by a program of the other node, which ends when this one does', async (t) => {
    const near = serve(t, back, front);
    const { cert, key } = front;
    const healthPort = await freePort();
    const far = new SplitProcess({
      command: program(borrower, '{rpc}', String(healthPort)),
      env: {},
      cert,
      key,
      borrow: [{ host: HOST, port: await near.port, fingerprints: [back.fingerprint] }],
      health: { port: healthPort, key: 'k', silentMs: 60_000 },
    });
    t.teardown(() => far.end());
    await far.ready;
    await near.end();
    t.match(await far.ended, /the program ended \(4\)/);
  });

  await t.test('and not where another node shows itself there', async (t) => {
    const near = serve(t, other, front);
    const { cert, key } = front;
    const far = new SplitProcess({
      command: program(borrower, '{rpc}', '1'),
      env: {},
      cert,
      key,
      borrow: [{ host: HOST, port: await near.port, fingerprints: [back.fingerprint] }],
    });
    t.match(await far.ended, /the program ended \(4\)/);
  });

  await t.test('which ends where it works and answers no more', async (t) => {
    const { cert, key } = front;
    const health = { port: await freePort(), key: 'k', silentMs: 200 };
    const command = program(hangs, String(health.port));
    const far = new SplitProcess({ command, env: {}, cert, key, health });
    t.teardown(() => far.end());
    await far.ready;
    t.match(await far.ended, /does not answer any more/);
  });

  await t.test('until the program ends, or nobody asks', async (t) => {
    const first = serve(t, back, front);
    await say(await first.port, front, 'end');
    t.match(await first.ended, /the program ended \(3\)/);
    t.match(await serve(t, back, front, 10).ended, /nobody asks/);
  });
});

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
