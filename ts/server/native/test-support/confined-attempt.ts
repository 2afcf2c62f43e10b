/** Tries one thing that a confined program must not do; prints `done`, or the code of the error that it met. */
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmodSync, readFileSync, renameSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';

const [, , attempt = '', target = ''] = process.argv;

const attempts: Record<string, () => unknown> = {
  read: () => readFileSync(target),
  write: () => writeFileSync(target, 'x'),
  'write much': () => writeFileSync(target, Buffer.alloc(2 * 1024 * 1024)),
  create: () => writeFileSync(join(target, 'new'), 'x'),
  truncate: () => truncateSync(target, 0),
  remove: () => unlinkSync(target),
  rename: () => renameSync(target, `${target}.moved`),
  chmod: () => chmodSync(target, 0o777),
  connect: () => meet(connect(Number(target), '127.0.0.1'), 'connect'),
  'connect unix': () => meet(connect(target), 'connect'),
  send: () =>
    new Promise((resolve, reject) =>
      createSocket('udp4').send('x', Number(target), '127.0.0.1', (error) => (error ? reject(error) : resolve(undefined))),
    ),
  listen: () => meet(createServer().listen(0, '127.0.0.1'), 'listening'),
  spawn: () => {
    const { error } = spawnSync(target);
    if (error) throw error;
  },
  exec: () => (process as unknown as { execve(file: string, args: string[]): void }).execve(target, [target]),
  signal: () => process.kill(Number(target), 'SIGUSR2'),
  prioritise: () => setPriority(Number(target), constants.priority.PRIORITY_LOW),
  privileges: () => readFileSync('/proc/self/status', 'utf8').match(/^(Groups|CapEff|CapBnd|NoNewPrivs|Seccomp):.*/gm),
  allocate: () => Array.from({ length: 4096 }, () => Buffer.alloc(1 << 20, 1)).length,
  spin: () => {
    for (;;);
  },
};

function meet(socket: Socket | Server, event: string): Promise<void> {
  return new Promise((resolve, reject) => socket.once(event, () => resolve()).once('error', reject));
}

try {
  const value = await attempts[attempt]?.();
  process.stdout.write(attempt === 'privileges' ? JSON.stringify(value) : 'done');
} catch (error) {
  process.stdout.write((error as NodeJS.ErrnoException).code ?? String(error));
}
process.exit();
