/** Volumes of flows: sums equal those of nfdump, hostile packets stop nothing, and who asks gets them by minute, hour and day. */
import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { freePort } from '../../../../test/child-server.ts';
import { iterations } from '../../../../test/test-support/iterations.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { FlowCollector, type FlowCollectorDeps } from './flows/flow-collector.ts';
import { FlowDecoder } from './flows/flow-decoder.ts';
import { captureOf, ipfixPacket, v5Packet, v9Packet } from './flows/test-support/flow-packets.ts';
import { openLogs } from './test-support/logs-bed.ts';

t.setTimeout(120_000);

const NOW = Date.parse('2026-11-28T12:30:30Z');
const FLOW = {
  src: '10.0.0.1',
  dst: '192.0.2.7',
  srcPort: 40_000,
  dstPort: 443,
  proto: 6,
  bytes: 1_500,
  packets: 3,
  endMs: NOW - 1_000,
};

async function sendAll(port: number, packets: readonly Buffer[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const packet of packets) await new Promise((resolve) => socket.send(packet, port, '127.0.0.1', resolve));
  socket.close();
}

async function openFlows(t: Test, dataDir = join(newFolder(t), 'data')) {
  const port = await freePort();
  const bed = await openLogs(t, { dataDir, settings: { 'logs.flows_listen': `127.0.0.1:${port}` } });
  const flows = (query: string) => bed.ask('GET', `flows?from=-2h&${query}`);
  const total = async (isThere: (flows: number) => boolean) => {
    await eventually(async () => isThere((await flows('')).body.total.flows));
    return (await flows('')).body.total;
  };
  return { ...bed, port, flows, total };
}

t.test('packets of each version are the same flows', (t) => {
  for (const [name, packets] of Object.entries({
    'version 5': [v5Packet([FLOW, FLOW])],
    'version 9': [v9Packet([FLOW, FLOW])],
    IPFIX: [ipfixPacket([FLOW, FLOW])],
    'version 9, the template alone': [v9Packet([], { hasTemplate: true }), v9Packet([FLOW, FLOW], { hasTemplate: false })],
  })) {
    const decoder = new FlowDecoder();
    const flows = packets.flatMap((packet) => decoder.decode('127.0.0.1', packet, NOW));
    const { endMs: atMs, ...flow } = FLOW;
    t.match(
      flows,
      [
        { ...flow, atMs, flows: 1 },
        { ...flow, atMs },
      ],
      name,
    );
    t.strictSame(decoder.counts, { packets: packets.length, invalid: 0, lost: 0, flows: 2 }, name);
  }
  const far = new FlowDecoder().decode('127.0.0.1', ipfixPacket([{ ...FLOW, endMs: Date.UTC(1970, 0, 2) }]), NOW);
  t.equal(far[0]?.atMs, NOW, 'a wrong clock counts by when the packet came');
  const six = new FlowDecoder().decode('127.0.0.1', ipfixPacket([{ ...FLOW, src: '2001:db8::1', dst: '2001:db8::ffff' }]), NOW);
  t.match(six, [{ src: '2001:db8::1', dst: '2001:db8::ffff' }]);
  t.end();
});

t.test('data waits for its template for 60 s, by exporter, and is counted then', (t) => {
  const decoder = new FlowDecoder();
  const data = v9Packet([FLOW], { hasTemplate: false });
  t.strictSame(decoder.decode('10.0.0.1', data, NOW), []);
  t.equal(decoder.decode('10.0.0.2', v9Packet([FLOW]), NOW).length, 1, 'another exporter has templates of its own');
  t.equal(decoder.decode('10.0.0.1', v9Packet([], { hasTemplate: true }), NOW + 1_000).length, 1);
  decoder.decode('10.0.0.3', data, NOW);
  decoder.expire(NOW + 59_000);
  t.equal(decoder.counts.lost, 0);
  decoder.expire(NOW + 61_000);
  t.equal(decoder.counts.lost, 1);
  t.strictSame(decoder.decode('10.0.0.3', v9Packet([], { hasTemplate: true }), NOW + 62_000), []);
  const again = new FlowDecoder(JSON.parse(JSON.stringify(decoder.saved)));
  t.equal(again.decode('10.0.0.3', data, NOW).length, 1, 'templates are kept over restarts');
  for (let i = 0; i < 20_000; i++) again.decode('10.0.0.9', data, NOW);
  t.ok(again.counts.lost > 0, 'what waits is bounded');
  const { lost } = again.counts;
  const emptySets = Buffer.alloc(16_000 * 4, Buffer.from([1, 44, 0, 4]));
  again.decode('10.0.0.8', Buffer.concat([v9Packet([], { hasTemplate: false }).subarray(0, 20), emptySets]), NOW);
  t.ok(again.counts.lost > lost, 'so are sets without data');
  for (let i = 0; i < 600; i++) again.decode(`10.1.${i >> 8}.${i & 255}`, v9Packet([FLOW]), NOW);
  t.ok(again.nExporters <= 500);
  t.end();
});

t.test('sampling stands beside volumes and multiplies nothing', (t) => {
  const decoder = new FlowDecoder();
  t.match(decoder.decode('10.0.0.1', v5Packet([FLOW], 100), NOW), [{ bytes: FLOW.bytes }]);
  t.equal(decoder.samplingOf('10.0.0.1'), 100);
  t.equal(decoder.samplingOf('10.0.0.2'), 0);
  t.match(decoder.decode('10.0.0.3', v9Packet([FLOW], { hasTemplate: true, sampling: 64 }), NOW), [{ bytes: FLOW.bytes }]);
  t.equal(decoder.samplingOf('10.0.0.3'), 64);
  t.end();
});

t.test('no packet, whole, cut or changed, stops the decoder, and volumes stay numbers', (t) => {
  const whole = [
    v5Packet([FLOW, FLOW]),
    v9Packet([FLOW]),
    ipfixPacket([FLOW]),
    v9Packet([FLOW], { hasTemplate: true, sampling: 9 }),
  ];
  const decoder = new FlowDecoder();
  const changed = fc.tuple(
    fc.constantFrom(...whole),
    fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 12 }),
    fc.option(fc.nat(400)),
    fc.uint8Array({ maxLength: 40 }),
  );
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: changed }, fc.uint8Array({ maxLength: 200 })), (given) => {
      let packet = Buffer.from(given instanceof Uint8Array ? given : given[0]);
      if (!(given instanceof Uint8Array)) {
        for (const [at, value] of given[1]) if (at < packet.length) packet[at] = value;
        packet = Buffer.concat([packet.subarray(0, given[2] ?? packet.length), given[3]]);
      }
      const flows = decoder.decode('10.0.0.1', packet, NOW);
      return flows.every(
        ({ bytes, packets, atMs, src, dst, proto }) =>
          Number.isSafeInteger(bytes) &&
          Number.isSafeInteger(packets) &&
          Number.isFinite(atMs) &&
          src !== '' &&
          dst !== '' &&
          proto <= 255,
      );
    }),
    { numRuns: iterations(3_000, 60_000) },
  );
  t.ok(decoder.counts.invalid > 0);
  t.end();
});

t.test('volumes are listed by what one asks for, and survive a restart with their templates', async (t) => {
  const { ask, port, flows, total, stop, dataDir, acts } = await openFlows(t);
  const now = Date.now();
  const of = (more: object) => ({ ...FLOW, endMs: now - 1_000, ...more });
  await sendAll(port, [
    ipfixPacket([of({}), of({ bytes: 500 }), of({ src: '10.0.0.2', bytes: 9_000, dstPort: 53, proto: 17 })]),
    Buffer.from('no packet'),
    v5Packet([of({ bytes: 1 })]),
  ]);
  t.strictSame(await total((n) => n === 4), { bytes: 11_001, packets: 12, flows: 4 });
  t.match((await flows('by=src')).body, {
    grain: 'minute',
    data: [
      { src: '10.0.0.2', bytes: 9_000, flows: 1, sampling: 0 },
      { src: '10.0.0.1', bytes: 2_001, packets: 9, flows: 3 },
    ],
  });
  t.match((await flows('by=pair&limit=1')).body.data, [{ src: '10.0.0.2', dst: '192.0.2.7' }]);
  t.match((await flows('by=port')).body.data, [
    { proto: 17, port: 53 },
    { proto: 6, port: 443 },
  ]);
  t.match((await flows('by=proto')).body.data, [{ proto: 17 }, { proto: 6, flows: 3 }]);
  t.match((await flows('by=exporter')).body.data, [{ exporter: '127.0.0.1', flows: 4 }]);
  t.match((await flows('by=time')).body.data, [{ at: /:00\.000Z$/ }]);
  t.match((await ask('GET', 'flows?from=-10d&by=dst')).body, { grain: 'hour', data: [{ dst: '192.0.2.7', bytes: 11_001 }] });
  t.match((await ask('GET', 'flows?from=-100d')).body, { grain: 'day', total: { flows: 4 } });
  for (const query of ['from=soon', 'from=-1h&to=-2h', 'by=all', 'limit=0'])
    t.match(await ask('GET', `flows?${query}`), { status: 400, body: { error: 'invalid_request' } }, query);
  t.equal((await ask('GET', 'flows', undefined, 'admin')).status, 403);
  t.match(acts[0], { action: 'logs.flows' });
  await sendAll(port, [v9Packet([of({})])]);
  await total((n) => n === 5);
  await stop();
  const again = await openFlows(t, dataDir);
  await sendAll(again.port, [v9Packet([of({ bytes: 99 })], { hasTemplate: false })]);
  t.match(await again.total((n) => n === 6), { bytes: 12_600 });
});

t.test('flows of strangers are dropped, and more keys than are kept are added to others', async (t) => {
  const port = await freePort();
  const settings = { 'logs.flows_listen': `127.0.0.1:${port}`, 'logs.flows_from': '10.0.0.0/8' };
  const stranger = await openLogs(t, { settings });
  await sendAll(port, [v5Packet([FLOW])]);
  await eventually(() => /svc_flows_dropped_total\{reason="sender"\} 1/.test(stranger.metrics()));
  await stranger.stop();
  const bed = await openFlows(t);
  const endMs = Date.now();
  const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
  const packets = Array.from({ length: 60 }, (_, i) =>
    v5Packet(Array.from({ length: 20 }, (_, j) => ({ ...FLOW, endMs, src: address(i * 20 + j) }))),
  );
  await sendAll(bed.port, packets);
  t.match(await bed.total((n) => n === 1_200), { bytes: 1_200 * FLOW.bytes }, 'the sum is whole');
  t.match((await bed.flows('by=src&limit=1')).body.data, [{ src: 'other' }]);
});

t.test('a port that is taken is a reason of /health, and lines are collected all the same', async (t) => {
  const { port } = await openFlows(t);
  const second = await openLogs(t, { settings: { 'logs.flows_listen': `127.0.0.1:${port}` } });
  t.match((await second.module.health()).reasons, [{ code: 'flows_not_received' }]);
  t.equal((await second.ask('GET', 'status')).status, 200);
  for (const listen of ['everywhere', '10.0.0.1', 'host:2055', '[::1]:99999'])
    t.throws(() => new FlowCollector({ listen, exporters: '' } as FlowCollectorDeps), { message: /logs.flows_listen/ }, listen);
});

/** Debian has both, as programs that others trust. */
const whyNoJudge = ['/usr/sbin/softflowd', '/usr/bin/nfcapd', '/usr/bin/nfdump'].every((path) => existsSync(path))
  ? false
  : 'there is no softflowd or no nfdump here (Debian: apt install softflowd nfdump)';

for (const version of ['5', '9', '10'])
  t.test(`sums of what softflowd exports by version ${version} equal those of nfdump`, { skip: whyNoJudge }, async (t) => {
    const { port, total } = await openFlows(t);
    const folder = newFolder(t);
    const capture = join(folder, 'a.pcap');
    writeFileSync(capture, captureOf(1_200));
    const judged = join(folder, 'nfdump');
    mkdirSync(judged);
    const judgePort = await freePort();
    const nfcapd = spawn('/usr/bin/nfcapd', ['-w', judged, '-b', '127.0.0.1', '-p', String(judgePort)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [nfcapd.stdout, nfcapd.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
    t.teardown(() => nfcapd.kill('SIGKILL'));
    await eventually(() => said.includes('Startup'));
    for (const to of [judgePort, port])
      execFileSync(
        '/usr/sbin/softflowd',
        // Its control socket can hold it up for ever.
        ['-r', capture, '-n', `127.0.0.1:${to}`, '-v', version, '-d', '-p', join(folder, 'pid'), '-c', 'none'],
        { stdio: 'ignore', timeout: 20_000 },
      );
    await eventually(() => /nfcapd\.\w+/.test(execFileSync('ls', [judged]).toString()));
    const exited = new Promise((resolve) => nfcapd.once('exit', resolve));
    nfcapd.kill('SIGTERM');
    await exited;
    const summary = execFileSync('/usr/bin/nfdump', ['-R', judged, '-I']).toString();
    const figure = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(summary)?.[1]);
    const expected = { bytes: figure('Bytes'), packets: figure('Packets'), flows: figure('Flows') };
    t.ok(expected.flows > 100, summary);
    t.strictSame(await total((n) => n >= expected.flows), expected);
    t.comment(`version ${version}: ${JSON.stringify(expected)}`);
  });
