/** What processes, disks and senders do to a collection: no acknowledged line is lost, the copies are equal again, and every line is found. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../../../test/child-server.ts';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { random } from '../../../../test/test-support/seed.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { LineReader } from '../../platform/storage/test-support/line-reader.ts';
import { closeHour } from './collection/closed-hour.ts';
import type { CollectionConfig } from './collection/collection-config.ts';
import { CANARY_CLASS, listHourFiles } from './collection/copy-files.ts';
import { framesOf, readFrame, withFile } from './collection/packed-frames.ts';
import { type ReadLines, readLines } from './index/log-line.ts';
import { matcherOf, parseQuery } from './index/query.ts';
import { LogSearcher } from './index/search.ts';
import { linesOf, openLogs, someConfig, whyNoRsyslog } from './test-support/logs-bed.ts';
import { madeLine, writeLines } from './test-support/made-copy.ts';
import { sendByRelp } from './test-support/relp-sender.ts';

const skip = whyNoRsyslog;
const WINDOW = 2_000;

t.setTimeout(600_000);

async function startCollecting(t: Test, dataDir: string, config?: CollectionConfig): Promise<ChildProcess> {
  const program = new URL('test-support/collection-process.ts', import.meta.url).pathname;
  const given = config === undefined ? [] : [JSON.stringify(config)];
  const child = spawn(process.execPath, [program, dataDir, ...given], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  await new LineReader<{ collects: boolean }>(child).find(({ collects }) => collects);
  return child;
}

/** Undefined: it does not run. */
function rsyslogOf(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'logs', 'rsyslog.pid'), 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** Closes all hours as the service does when they are over; both copies are equal then. */
async function closedLines(t: Test, copies: readonly string[]): Promise<ReadLines> {
  const listed = (await Promise.all(copies.map((copy) => listHourFiles(copy)))).flat();
  const ids = [...new Set(listed.map(({ id }) => id))].filter((id) => !id.startsWith(CANARY_CLASS));
  const read: ReadLines = { lines: [], nBad: 0, nRedacted: 0 };
  for (const id of ids) {
    await closeHour(copies, id, []);
    const [a, b] = copies.map((copy) => readFileSync(join(copy, `${id}.jsonl.zst`)));
    t.ok(a !== undefined && b !== undefined && a.equals(b), `${id} is the same file in both copies`);
    await withFile(join(copies[0] ?? '', `${id}.jsonl.zst`), async (file) => {
      for await (const place of framesOf(file))
        for (const line of (await readFrame(file, place)).toString().split('\n')) readLines(line, read);
    });
  }
  return read;
}

t.test('kill -9 of rsyslog, of the service and of both under load: no acknowledged line is lost', { skip }, async (t) => {
  const nLines = iterations(12_000, 120_000);
  const nKills = iterations(3, 25);
  const dataDir = join(newFolder(t), 'data');
  mkdirSync(dataDir);
  const config = await someConfig(t, { listen: [{ protocol: 'relp', address: '127.0.0.1', port: await freePort() }] });
  let service = await startCollecting(t, dataDir, config);
  const lines = Array.from({ length: nLines }, (_, i) => `<13>1 - h1 app 1 - - number-${i}-end ${'x'.repeat(60)}`);
  const killsAt = Array.from({ length: nKills }, (_, i) => Math.floor(((i + 1) * nLines) / (nKills + 1)));
  let nKilled = 0;
  let killing: Promise<void> = Promise.resolve();
  const killNext = async (kind: number): Promise<void> => {
    const pid = rsyslogOf(dataDir);
    const isOfService = kind % 3 !== 0;
    const exited = isOfService ? once(service, 'exit') : undefined;
    if (isOfService) service.kill('SIGKILL');
    if (kind % 3 !== 1 && pid !== undefined) process.kill(pid, 'SIGKILL');
    await exited;
    if (isOfService) service = await startCollecting(t, dataDir);
    else await eventually(() => rsyslogOf(dataDir) !== pid && rsyslogOf(dataDir) !== undefined);
    nKilled += 1;
  };
  await sendByRelp(lines, {
    port: config.listen[0]?.port ?? 0,
    window: WINDOW,
    onAcknowledged: (n) => {
      const kind = killsAt.indexOf(n);
      if (kind >= 0) killing = killing.then(() => killNext(kind));
    },
  });
  await killing;
  t.equal(nKilled, nKills);
  const exited = once(service, 'exit');
  service.kill('SIGTERM');
  await exited;

  const read = await closedLines(t, config.copies);
  const uuids = read.lines.map(({ line }) => line.uuid);
  t.equal(new Set(uuids).size, uuids.length, 'each uuid is there once');
  const numbers = read.lines.flatMap(({ line }) => /number-(\d+)-end/.exec(line.msg)?.[1] ?? []);
  const found = new Set(numbers);
  t.equal(found.size, nLines, 'every acknowledged line is there');
  t.comment(`${nKills} kills, ${nLines} lines: 0 lost, ${numbers.length - found.size} twice, ${read.nBad} torn`);
  const searcher = new LogSearcher(join(dataDir, 'cache', 'logs'));
  const request = {
    fromMs: 0,
    toMs: Date.now() + 60_000,
    classes: undefined,
    limit: 10,
    order: 'desc',
    cursor: undefined,
    nBuckets: 0,
    senders: undefined,
    timeLimitMs: 60_000,
  } as const;
  for (let i = 0; i < 3; i++) {
    const uuid = uuids[Math.floor(random.next() * uuids.length)] ?? '';
    const matcher = matcherOf(parseQuery(`uuid:${uuid}`));
    const copy = { path: config.copies[i % 2] ?? '', number: i % 2 };
    t.equal((await searcher.search(copy, request, matcher, () => false)).lines.length, 1, 'a line is found once in either copy');
  }
});

t.test('what is lost by UDP and TCP where rsyslog is killed is printed', { skip }, async (t) => {
  const N_LINES = 3_000;
  const bed = await openLogs(t);
  const [udp, tcp] = [await freePort(), await freePort()];
  const address = '127.0.0.1';
  const config = await someConfig(t, {
    listen: [
      { protocol: 'udp', address, port: udp },
      { protocol: 'tcp', address, port: tcp },
    ],
  });
  await bed.ask('PUT', 'rsyslog/config', config);
  t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 200 });
  const pid = rsyslogOf(bed.dataDir) ?? 0;
  const datagrams = createSocket('udp4');
  const stream = connect({ host: address, port: tcp });
  await once(stream, 'connect');
  stream.on('error', () => undefined);
  stream.resume();
  for (let i = 0; i < N_LINES; i++) {
    await new Promise((resolve) => datagrams.send(`<13>1 - h a - - - datagram-${i}-end`, udp, address, resolve));
    if (!stream.destroyed) stream.write(`<13>1 - h a - - - stream-${i}-end\n`);
    if (i === N_LINES / 2) process.kill(pid, 'SIGKILL');
  }
  await eventually(() => rsyslogOf(bed.dataDir) !== undefined && rsyslogOf(bed.dataDir) !== pid);
  let nTries = 0;
  // Datagrams may be lost: the last one is sent until it is there.
  await eventually(async () => {
    nTries += 1;
    await new Promise((resolve) => datagrams.send(`<13>1 - h a - - - last-${nTries}-end`, udp, address, resolve));
    return linesOf(config.copies[0] ?? '').some(({ msg }) => msg.startsWith('last-'));
  });
  datagrams.close();
  stream.destroy();
  await bed.stop();
  const { lines } = await closedLines(t, config.copies);
  const count = (kind: string): number => lines.filter(({ line }) => line.msg.startsWith(kind)).length;
  t.ok(count('datagram') > 0 && count('stream') > 0);
  t.comment(
    `lost of ${N_LINES}: ${N_LINES - count('datagram')} by UDP, ${N_LINES - count('stream')} by TCP on a connection that broke`,
  );
});

async function collecting(t: Test, prepare: (config: CollectionConfig) => void = () => undefined) {
  const bed = await openLogs(t);
  const config = await someConfig(t);
  prepare(config);
  await bed.ask('PUT', 'rsyslog/config', config);
  t.match(await bed.ask('POST', 'rsyslog/apply'), { status: 200 });
  const send = async (...texts: (string | Buffer)[]): Promise<void> => {
    const socket = connect({ host: '127.0.0.1', port: config.listen[0]?.port ?? 0 });
    await once(socket, 'connect');
    socket.end(Buffer.concat(texts.flatMap((text) => [Buffer.from(text), Buffer.from('\n')])));
    socket.resume();
    await once(socket, 'close');
  };
  const found = async (q: string) => (await bed.ask('GET', `search?limit=1000&q=${encodeURIComponent(q)}`)).body.lines;
  return { ...bed, config, copies: config.copies as [string, string], send, found };
}

const numbered = (word: string, n: number): string[] => Array.from({ length: n }, (_, i) => `<13>1 - h1 app 1 - - ${word} ${i}`);

t.test('a copy that is full is left for the other, and has the lines when the hour is closed', { skip }, async (t) => {
  const hours = [Date.now(), Date.now() + 3_600_000].map((ms) => new Date(ms).toISOString().slice(0, 13));
  const { copies, send, found, module, stop } = await collecting(t, ({ copies: [, b = ''] }) => {
    mkdirSync(join(b, 'other'), { recursive: true });
    for (const hour of hours) symlinkSync('/dev/full', join(b, `other/${hour}.jsonl`));
  });
  await send(...numbered('fullness', 200));
  await eventually(async () => (await found('fullness')).length === 200);
  await eventually(async () => (await module.health()).reasons.length > 0, 40_000);
  t.match((await module.health()).reasons, [{ code: 'logs_copy_behind' }], 'one reason');
  await send(...numbered('later', 50));
  await eventually(async () => (await found('later')).length === 50);
  await stop();
  for (const hour of hours) rmSync(join(copies[1], `other/${hour}.jsonl`));
  t.equal((await closedLines(t, copies)).lines.length, 250);
});

t.test('a copy that is deleted is left for the other, and has the lines when the hour is closed', { skip }, async (t) => {
  const { copies, send, found, module, stop } = await collecting(t);
  await send(...numbered('before', 100));
  await eventually(() => copies.every((copy) => linesOf(copy).length === 100));
  rmSync(copies[1], { recursive: true });
  await send(...numbered('after', 100));
  await eventually(async () => (await found('after')).length === 100);
  t.equal((await found('before')).length, 100);
  await eventually(async () => (await module.health()).reasons.length > 0, 40_000);
  t.match((await module.health()).reasons, [{ code: 'logs_copy_behind' }], 'one reason');
  await stop();
  mkdirSync(copies[1], { recursive: true });
  t.equal((await closedLines(t, copies)).lines.length, 200);
});

t.test('a byte that flipped in a packed file is repaired byte for byte, and search goes on', { skip }, async (t) => {
  const { ask, copies, send, found } = await collecting(t);
  const rcvd = new Date(Date.now() - 2 * 3_600_000).toISOString().replace('Z', '000+00:00');
  const lines = Array.from({ length: 500 }, (_, i) => madeLine({ rcvd, msg: `packed line ${i}` }));
  for (const copy of copies) writeLines(copy, lines);
  const id = `other/${rcvd.slice(0, 13)}`;
  t.match(await ask('POST', 'repair'), { status: 200 }, 'which closes the hour, as the service alone may');
  for (const damaged of copies) {
    const path = join(damaged, `${id}.jsonl.zst`);
    const whole = readFileSync(path);
    const bytes = Buffer.from(whole);
    const at = Math.floor(random.next() * (bytes.length - 20)) + 10;
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
    writeFileSync(path, bytes);
    await send('<13>1 - h1 app 1 - - meanwhile');
    await eventually(async () => (await found('meanwhile')).length > 0);
    t.match(await ask('POST', 'repair'), { status: 200, body: { files: 1 } });
    t.ok(readFileSync(path).equals(whole), `byte ${at}`);
    const answer = await ask('GET', 'search?limit=1000&from=-1d&q=packed');
    t.match({ lines: answer.body.lines.length, partial: answer.body.partial }, { lines: 500, partial: false });
  }
});

t.test(
  '300 hostile lines and clocks from 1970 to 2099 end in one line each, none is forged, and all are found',
  { skip },
  async (t) => {
    const { copies, send, found, ask } = await collecting(t);
    const pieces = [
      '"',
      '\\',
      '\\"',
      '"}',
      '{"uuid":"',
      '","class":"auth',
      '\t',
      '%msg%',
      '$!a',
      "'",
      '\u0007',
      '\u001b[31m',
      '[a b="c',
      ']',
      '<13>',
      '../..',
      '#012',
      '\u202e',
      '💥',
      '\u00e4',
      '=',
      ';',
      '|',
      '\u2028',
    ];
    const years = [
      '1970-01-01',
      '1999-12-31',
      '2000-02-29',
      '2026-02-30',
      '2038-01-19',
      '2099-12-31',
      '0000-00-00',
      '9999-99-99',
    ];
    const hostile = Array.from({ length: 300 }, (_, i) => {
      const some = Array.from(
        { length: 1 + Math.floor(random.next() * 12) },
        () => pieces[Math.floor(random.next() * pieces.length)],
      ).join('');
      const time = `${years[i % years.length]}T${i % 24}:59:${i % 61}Z`;
      const head = [
        `<13>1 ${time} h1 app 1 - - `,
        `<${i * 7}>1 ${time} h ${'a'.repeat(i % 70)} - - - `,
        'Dec 31 23:59:59 host tag: ',
        '',
      ][i % 4];
      return `${head}begin ${some} hostile${i}end`;
    });
    await send(...hostile);
    await eventually(() => copies.every((copy) => linesOf(copy).length === 300));
    const [a, b] = copies.map((copy) => linesOf(copy));
    t.strictSame(a?.map(({ uuid }) => uuid).sort(), b?.map(({ uuid }) => uuid).sort());
    t.ok(
      a?.every((line) => line.class === 'other' && /^[0-9A-F]{32}$/.test(line.uuid)),
      'none says what it is',
    );
    for (let i = 0; i < 300; i += 1)
      if (!a?.some(({ msg }) => msg.includes(`hostile${i}end`))) t.fail(`line ${i} is not there: ${hostile[i]}`);
    await eventually(async () => (await found('begin')).length === 300);
    t.equal((await ask('GET', 'status')).body.index.quarantined, 0);
  },
);
