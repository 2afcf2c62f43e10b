/** Log lines reach syslog servers as RFC 5424 has them, and nobody waits for a server that takes none. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { freePort } from '../../../../test/child-server.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createSelfSigned } from '../../platform/http/self-signed.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { datagramOf, frameOf, syslogLine } from './syslog-line.ts';
import { PROTOCOLS } from './target.ts';
import { arrival, LINE, openReceiver, textsOf } from './test-support/receiver.ts';
import { openSyslog } from './test-support/syslog-bed.ts';

t.setTimeout(120_000);

const host = '127.0.0.1';

for (const protocol of PROTOCOLS) {
  t.test(`lines arrive by ${protocol} in their order, with their severity and the facility`, async (t) => {
    const certificate = await createSelfSigned({ folder: newFolder(t) });
    const receiver = await openReceiver(t, protocol, protocol === 'tls' ? { certificate } : {});
    const { ask, log, stats } = await openSyslog(t, { settings: { 'syslog.ca_cert': certificate.certFile } });
    const put = await ask('PUT', 'config', { host, port: receiver.port, protocol, facility: 'local3' });
    t.match(put, { status: 200, body: { host, port: receiver.port, protocol, enabled: true, facility: 19, source: 'saved' } });
    log.error('one', { a: 1, said: 'so "it" is', nested: { b: [1] } });
    log.warn('two');
    log.info('three über 日本', { password: 'secret' });
    log.debug('four\nforged <11>1 line\u0007');
    await arrival(receiver, 'four');
    const found = receiver.lines.map((line) => LINE.exec(line)).filter((match) => /^(one|two|three|four)/.test(match?.[5] ?? ''));
    t.strictSame(
      found.map((match) => [Number(match?.[1]), match?.[5]]),
      [
        [19 * 8 + 3, 'one a=1 said="so \\"it\\" is" nested={"b":[1]}'],
        [19 * 8 + 4, 'two'],
        [19 * 8 + 6, 'three über 日本 password="[redacted]"'],
        [19 * 8 + 7, 'four forged <11>1 line '],
      ],
    );
    t.ok(found.every((match) => Number(match?.[4]) === process.pid));
    const figures = await stats();
    t.match(figures, { queued: 0, dropped_total: 0, send_errors_total: 0, last_error: null, last_sent_at: /Z$/ });
    await eventually(() => receiver.lines.length >= figures.sent_total);
  });

  t.test(`a test line goes by ${protocol}, and what is wrong is said`, async (t) => {
    const certificate = await createSelfSigned({ folder: newFolder(t) });
    const receiver = await openReceiver(t, protocol, protocol === 'tls' ? { certificate } : {});
    const { ask, stats } = await openSyslog(t);
    await ask('PUT', 'config', { host: 'localhost', port: receiver.port, protocol });
    const destination = `${protocol}://localhost:${receiver.port}`;
    t.strictSame((await ask('POST', 'test')).body, { destination, sent: true });
    t.match(await arrival(receiver, 'syslog test'), LINE);
    await receiver.close();
    t.match((await ask('POST', 'test')).body, { destination, sent: false, error: /ECONNREFUSED/ });
    const { sent_total: sent, dropped_total: dropped, send_errors_total: failed } = await stats();
    t.ok(sent >= 1 && dropped >= 1 && failed >= 1);
  });
}

t.test('datagrams have 1,180 bytes at most and frames 8,000, both cut behind a whole character', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 400 }), (part, n) => {
      const line = part.repeat(n);
      const datagram = datagramOf(line);
      const [, count, framed] = /^(\d+) ([\s\S]*)$/.exec(frameOf(line).toString('latin1')) ?? [];
      const text = Buffer.from(framed ?? '', 'latin1').toString();
      const whole = Buffer.from(line).toString();
      return (
        datagram.length <= 1180 &&
        whole.startsWith(datagram.toString()) &&
        (datagram.length > 1176 || datagram.toString() === whole) &&
        Number(count) === framed?.length &&
        framed.length <= 8000 &&
        whole.startsWith(text) &&
        (framed.length > 7996 || text === whole)
      );
    }),
  );
  t.end();
});

t.test('no message or field makes a second line', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (message, value) => {
      const line = syslogLine({ time: '2026-01-01T00:00:00.000Z', level: 'info', message, fields: { value, [message]: 1 } }, 16);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      return /^<134>1 /.test(line) && !/[\u0000-\u001f\u007f-\u009f]/.test(line);
    }),
  );
  t.end();
});

t.test('lines from before the module started are sent, once', async (t) => {
  const receiver = await openReceiver(t, 'tcp');
  const { log, module } = await openSyslog(t, {
    settings: { 'syslog.host': host, 'syslog.port': receiver.port, 'syslog.protocol': 'tcp' },
  });
  log.info('first run');
  await arrival(receiver, 'first run');
  await module.stop();
  log.info('while it is stopped');
  await module.start();
  log.info('second run');
  await arrival(receiver, 'second run');
  t.strictSame(
    textsOf(receiver).filter((text) => /run|stopped/.test(text)),
    ['first run', 'second run'],
  );
});

/** Makes lines, and compares what came of them after a while. Returns milliseconds a line. */
async function balance(t: Test, { log, metrics }: Awaited<ReturnType<typeof openSyslog>>, nLines: number): Promise<number> {
  const last = (): number => log.recent?.list().at(-1)?.seq ?? 0;
  const counted = (): number => {
    const figures = metrics.expose().matchAll(/^svc_syslog_(?:queued|sent_total|dropped_total)\{to="node"\} (\d+)$/gm);
    return [...figures].reduce((sum, [, figure]) => sum + Number(figure), 0);
  };
  const [madeBefore, countedBefore] = [last(), counted()];
  const startedAt = performance.now();
  for (let n = 0; n < nLines; n++) log.info(`line ${n} of many`);
  const tookMs = performance.now() - startedAt;
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(counted() - countedBefore, last() - madeBefore, 'sent + dropped + queued = made');
  return tookMs / nLines;
}

t.test('a server that refuses, resets or never reads costs lines and no time, and each line is counted once', async (t) => {
  for (const protocol of ['tcp', 'udp'] as const) {
    const bed = await openSyslog(t, { limits: { mostLines: 1000 } });
    const { ask, log, stats } = bed;
    await ask('PUT', 'config', { host, port: await freePort(), protocol });
    await eventually(() => log.recent?.list().some(({ json }) => json.includes('cannot be reached')) === true);
    const ms = await balance(t, bed, 5000);
    const figures = await stats();
    t.ok(figures.dropped_total > 0 && figures.send_errors_total > 0, `${protocol}: refused, ${ms.toFixed(4)} ms a line`);
    t.match(figures.last_error, /ECONNREFUSED/);
    if (protocol === 'tcp') t.equal(figures.queued, 1000, 'the oldest wait');
  }
  for (const behaviour of ['resets', 'deaf'] as const) {
    const receiver = await openReceiver(t, 'tcp', { behaviour });
    const bed = await openSyslog(t, { limits: { mostLines: 1000 } });
    const { ask, log, stats } = bed;
    await ask('PUT', 'config', { host, port: receiver.port, protocol: 'tcp' });
    const ms = await balance(t, bed, 200_000);
    const { dropped_total: dropped } = await stats();
    t.ok(dropped > 0, `${behaviour}: ${dropped} dropped, ${ms.toFixed(4)} ms a line`);
    receiver.behaviour = 'reads';
    if (behaviour === 'deaf') receiver.cut();
    log.info('it reads now');
    await eventually(() => receiver.lines.length > 0, 20_000);
  }
});

t.test('a full queue drops the newest: what waited arrives when the server is there, in its order', async (t) => {
  const port = await freePort();
  const { ask, log, stats, module } = await openSyslog(t, { limits: { mostLines: 50 } });
  await ask('PUT', 'config', { host, port, protocol: 'tcp' });
  await eventually(() => log.recent?.list().some(({ json }) => json.includes('cannot be reached')) === true);
  t.match(await module.health(), {
    state: { forwarding: 'failing', protocol: 'tcp' },
    reasons: [{ code: 'syslog_unreachable', detail: /do not reach/ }],
  });
  t.notMatch(JSON.stringify(await module.health()), host, 'without the address');
  for (let n = 0; n < 200; n++) log.info(`numbered ${n}`);
  t.equal((await stats()).queued, 50);
  const receiver = await openReceiver(t, 'tcp', { port });
  await eventually(() => receiver.lines.length >= 50);
  const numbers = textsOf(receiver).flatMap((text) => /^numbered (\d+)$/.exec(text)?.[1] ?? []);
  t.strictSame(
    numbers.map(Number),
    numbers.map((_, n) => n),
    'the first ones, without a gap',
  );
  await eventually(() => log.recent?.list().some(({ json }) => json.includes('takes lines again')) === true);
  t.match(await module.health(), { state: { forwarding: 'on' }, reasons: [] });
  receiver.cut();
  log.info('after a cut');
  log.info('and once more');
  await arrival(receiver, 'once more');
});

t.test('a few long lines fill the queue as well', async (t) => {
  const { ask, log, stats } = await openSyslog(t, { limits: { mostChars: 100_000 } });
  await ask('PUT', 'config', { host, port: await freePort(), protocol: 'tcp' });
  for (let n = 0; n < 30; n++) log.info('x'.repeat(10_000));
  const { queued, dropped_total: dropped } = await stats();
  t.ok(queued <= 12 && dropped >= 18, `${queued} wait, ${dropped} were dropped`);
});

t.test('lines that wait go to the server that takes the place of one that is gone', async (t) => {
  const { ask, log } = await openSyslog(t);
  await ask('PUT', 'config', { host, port: await freePort(), protocol: 'tcp' });
  log.info('it waits');
  const receiver = await openReceiver(t, 'udp');
  await ask('PUT', 'config', { host, port: receiver.port });
  await arrival(receiver, 'it waits');
});

t.test('with a CA the certificate and its name are checked; without one health says that they are not', async (t) => {
  const [own, foreign] = [await createSelfSigned({ folder: newFolder(t) }), await createSelfSigned({ folder: newFolder(t) })];
  const receiver = await openReceiver(t, 'tls', { certificate: own });
  const target = { host: 'localhost', port: receiver.port, protocol: 'tls' };

  const checked = await openSyslog(t, { settings: { 'syslog.ca_cert': own.certFile } });
  await checked.ask('PUT', 'config', target);
  t.match((await checked.ask('POST', 'test')).body, { sent: true });
  t.match(await checked.module.health(), { state: { server_verified: true }, reasons: [] });
  await checked.ask('PUT', 'config', { ...target, host: '127.0.0.2' });
  t.match((await checked.ask('POST', 'test')).body, { sent: false });

  const wrong = await openSyslog(t, { settings: { 'syslog.ca_cert': foreign.certFile } });
  await wrong.ask('PUT', 'config', target);
  t.match((await wrong.ask('POST', 'test')).body, { sent: false, error: /certificate/ });

  const unseen = await openSyslog(t);
  await unseen.ask('PUT', 'config', target);
  t.match((await unseen.ask('POST', 'test')).body, { sent: true });
  t.match(await unseen.module.health(), { state: { server_verified: false }, reasons: [{ code: 'syslog_unverified' }] });

  const missing = await openSyslog(t, { settings: { 'syslog.ca_cert': '/nowhere/ca.pem' } });
  await missing.ask('PUT', 'config', target);
  t.match((await missing.ask('POST', 'test')).body, { sent: false, error: /nowhere/ });
});

t.test('a name that the certificate does not have is refused', async (t) => {
  const certificate = await createSelfSigned({ folder: newFolder(t) });
  const receiver = await openReceiver(t, 'tls', { certificate });
  const { ask } = await openSyslog(t, { settings: { 'syslog.ca_cert': certificate.certFile } });
  // It resolves to this machine wherever it is asked, and is no name of the certificate.
  await ask('PUT', 'config', { host: 'other.localhost', port: receiver.port, protocol: 'tls' });
  t.match((await ask('POST', 'test')).body, { sent: false, error: /altnames|ENOTFOUND/ });
});

t.test('the own certificate is shown, and a renewed one with the next connection', async (t) => {
  const folder = newFolder(t);
  const server = await createSelfSigned({ folder: newFolder(t) });
  const ofClient = async (name: string) => createSelfSigned({ folder: newFolder(t), names: [name], isForClients: true });
  const [first, renewed] = [await ofClient('first'), await ofClient('renewed')];
  const tls = { requestCert: true, rejectUnauthorized: true, ca: [readFileSync(renewed.certFile)] };
  const receiver = await openReceiver(t, 'tls', { certificate: server, tls });
  const show = (from: typeof first) => {
    copyFileSync(from.certFile, join(folder, 'cert.pem'));
    copyFileSync(from.keyFile, join(folder, 'key.pem'));
  };
  show(first);
  const { ask, log, stats } = await openSyslog(t, {
    settings: {
      'syslog.ca_cert': server.certFile,
      'syslog.client_cert': join(folder, 'cert.pem'),
      'syslog.client_key': join(folder, 'key.pem'),
    },
  });
  await ask('PUT', 'config', { host: 'localhost', port: receiver.port, protocol: 'tls' });
  t.match((await ask('POST', 'test')).body, { sent: false, error: /closed|reset|alert|certificate/i });
  log.info('it waits for the renewal');
  await eventually(() => log.recent?.list().some(({ json }) => json.includes('cannot be reached')) === true);
  t.strictSame(receiver.lines, []);
  show(renewed);
  t.match((await ask('POST', 'test')).body, { sent: true });
  log.info('behind the renewal');
  await arrival(receiver, 'behind the renewal', 20_000);
  await arrival(receiver, 'it waits for the renewal');
  t.ok((await stats()).send_errors_total >= 1);
});

t.test('metrics count what the figures count', async (t) => {
  const receiver = await openReceiver(t, 'tcp');
  const { ask, log, metrics, stats } = await openSyslog(t);
  await ask('PUT', 'config', { host, port: receiver.port, protocol: 'tcp' });
  await ask('PUT', 'config/tenant/red', { host, port: await freePort(), protocol: 'tcp' });
  log.info('of red', { tenant: 'red' });
  await arrival(receiver, 'of red');
  const figures = await stats();
  const [, sent] = /^svc_syslog_sent_total\{to="node"\} (\d+)$/m.exec(metrics.expose()) ?? [];
  t.ok(Number(sent) >= figures.sent_total, `${sent} of at least ${figures.sent_total}`);
  t.match(metrics.expose(), /^svc_syslog_queued\{to="tenant"\} [1-9]/m);
  t.match(metrics.expose(), /^svc_syslog_send_errors_total\{to="tenant"\} [1-9]/m);
});
