/** The acceptor takes connections of a listening socket that another owns. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';

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
