/** The acceptor takes connections of a listening socket that another owns; freed memory goes back to the system. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { isSanitized } from '../../../test/test-support/sanitizer.ts';

/**
 * A program that listens, accepts through the acceptor, and stops listening. It prints how many connections came, and the share of
 * its time that it computed afterwards: a thread that polls what is closed takes a whole core.
 */
const program = `
import { createConnection, createServer } from 'node:net';
import { closeSync, readFileSync } from 'node:fs';
import { acceptConnections } from '${new URL('./system.ts', import.meta.url).href}';
const isInherited = (connection) => {
  const [, flags] = /flags:\\s*(\\d+)/.exec(readFileSync('/proc/self/fdinfo/' + connection, 'utf8'));
  return (parseInt(flags, 8) & 0o2000000) === 0;
};
const taken = [];
async function listen() {
  const server = createServer((socket) => socket.destroy());
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
const accept = (server) =>
  acceptConnections(server._handle.fd, (connection) => {
    taken.push(isInherited(connection));
    closeSync(connection);
  });
const connect = ({ port }) =>
  new Promise((resolve) => createConnection(port, '127.0.0.1').on('error', resolve).on('close', resolve).resume());
const first = await listen();
accept(first);
// The server accepts some of them itself.
while (taken.length === 0) await connect(first.address());
// Closed beside an acceptor that begins to wait for it: some of these notice before, some after they wait.
for (const server of await Promise.all(Array.from({ length: 100 }, listen))) {
  accept(server);
  server.close();
}
const before = process.cpuUsage();
const from = performance.now();
await new Promise((resolve) => setTimeout(resolve, 500));
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ areInherited: taken.includes(true), share: (user + system) / 1000 / (performance.now() - from) }));
process.exit(0);
`;

t.test(
  'a listener that is closed costs nothing, and what it accepted is not inherited',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    const { areInherited, share } = JSON.parse(stdout) as { areInherited: boolean; share: number };
    t.equal(areInherited, false);
    t.ok(share < 0.1, `computed ${Math.round(share * 100)} % of the time`);
  },
);

/** Takes blocks of 256 KiB, and frees all but every fourth: malloc keeps what lies below a block in use. Prints bytes that are resident. */
const holes = `
import { releaseFreedHeap } from '${new URL('./system.ts', import.meta.url).href}';
const resident = () => process.memoryUsage.rss();
await releaseFreedHeap();
const before = resident();
let blocks = Array.from({ length: 256 }, () => Buffer.allocUnsafeSlow(256 * 1024).fill(1));
const most = resident() - before;
blocks = blocks.filter((_, i) => i % 4 === 3);
gc();
await new Promise((resolve) => setImmediate(resolve));
gc();
const kept = resident() - before;
await releaseFreedHeap();
console.log(JSON.stringify({ most, kept, left: resident() - before, blocks: blocks.length }));
`;

t.test('memory that was freed between blocks in use goes back to the system', { skip: whyNoGlibc() }, async (t) => {
  const options = ['--single-threaded-gc', '--expose-gc', '--input-type=module', '-e'];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, holes]);
  const { most, kept, left } = JSON.parse(stdout) as { most: number; kept: number; left: number };
  t.ok(most > 60 * 2 ** 20, `${most} bytes were taken`);
  t.ok(left < 24 * 2 ** 20, `${left} of ${kept} bytes are left`);
});

function whyNoGlibc(): string | false {
  if (process.platform !== 'linux') return 'the heap is not that of glibc';
  return isSanitized() ? 'a sanitizer has a malloc of its own, which keeps freed memory' : false;
}
