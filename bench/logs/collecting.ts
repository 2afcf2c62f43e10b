/** Lines through a real rsyslog into two copies: by itself, and with the index that follows it. */
import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../test/child-server.ts';
import { Collection } from '../../ts/server/domains/logs/collection/collection.ts';
import { listHourFiles } from '../../ts/server/domains/logs/collection/copy-files.ts';
import { LogIndex } from '../../ts/server/domains/logs/index/log-index.ts';
import { SealingKey } from '../../ts/server/platform/crypto/sealing-key.ts';
import { Log } from '../../ts/server/platform/log/log.ts';
import { MetricsRegistry } from '../../ts/server/platform/metrics/registry.ts';

const LINES_AT_ONCE = 5_000;
const LOOK_MS = 20;

/** Seconds until all lines are in both copies and, with `isIndexed`, in the index as far as frames go. */
export async function collect(folder: string, nLines: number, isIndexed: boolean): Promise<number> {
  const port = await freePort();
  const copies: [string, string] = [join(folder, 'a'), join(folder, 'b')];
  const log = new Log({ level: 'error', format: 'json', sink: { write: () => undefined, flush: () => undefined } });
  const metrics = new MetricsRegistry();
  const shared = { dataDir: folder, log, metrics, now: Date.now };
  const sealingKey = () => SealingKey.open(join(folder, 'sealing.key'));
  const collection = new Collection({ ...shared, runner: 'child', sealingKey });
  const index = new LogIndex({ ...shared, storeUrl: '', reading: () => collection.reading });
  await collection.start();
  try {
    await collection.configure({
      listen: [{ protocol: 'tcp', address: '127.0.0.1', port }],
      allowed_networks: ['127.0.0.0/8'],
      sources: [],
      classes: [],
      copies,
      retention: { days: 30, bytes: 1e12 },
    });
    await collection.apply();
    if (isIndexed) index.start();
    const beganAt = performance.now();
    await send(port, nLines);
    for (const copy of copies) while (!(await endsWith(copy, `line ${nLines - 1} end`))) await wait(LOOK_MS);
    // What is left of a frame is searched without the index.
    while (isIndexed && (index.shown.lag_seconds > 0 || index.shown.lines < nLines - LINES_AT_ONCE)) await wait(LOOK_MS);
    return (performance.now() - beganAt) / 1_000;
  } finally {
    if (isIndexed) await index.stop();
    await collection.stop();
  }
}

async function send(port: number, nLines: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  socket.resume();
  for (let at = 0; at < nLines; at += LINES_AT_ONCE) {
    const lines = Array.from(
      { length: Math.min(LINES_AT_ONCE, nLines - at) },
      (_, i) =>
        `<86>1 - h1 sshd 1 - - session ${(at + i) % 977} of user u${(at + i) % 3_001} from 10.1.${i % 250}.7 closed, line ${at + i} end\n`,
    );
    if (!socket.write(lines.join(''))) await once(socket, 'drain');
  }
  socket.end();
  await once(socket, 'close');
}

async function endsWith(copy: string, text: string): Promise<boolean> {
  const files = (await listHourFiles(copy).catch(() => [])).filter(
    ({ className, isPacked }) => className === 'other' && !isPacked,
  );
  for (const { path } of files) {
    const { size } = await stat(path);
    const file = await open(path);
    const tail = Buffer.alloc(Math.min(size, 2_000));
    await file.read(tail, 0, tail.length, size - tail.length);
    await file.close();
    if (tail.includes(text)) return true;
  }
  return false;
}
