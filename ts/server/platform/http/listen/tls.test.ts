import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import t from 'tap';
import type { EventStream } from '../route.ts';
import { createSelfSigned } from '../self-signed.ts';
import { eventually, OK, openTestBed, plainRoute } from '../test-support/test-bed.ts';
import { readCertificate } from './certificate.ts';

const folder = t.testdir({ other: { 'bad.pem': 'no certificate' } });
const at = (name: string): string => join(folder, name);
const first = await createSelfSigned({ folder: at('first'), names: ['Svc.Example', '192.0.2.7'] });
const second = await createSelfSigned({ folder: at('second') });

t.test('a self-signed certificate is for this machine and the names that were asked for', async (t) => {
  const { names, expires } = await readCertificate(first);
  for (const name of ['DNS:localhost', `DNS:${hostname().toLowerCase()}`, 'DNS:svc.example']) t.ok(names.includes(name), name);
  for (const address of ['127.0.0.1', '192.0.2.7', '0:0:0:0:0:0:0:1']) t.ok(names.includes(`IP Address:${address}`), address);
  const days = (expires.getTime() - Date.now()) / 86_400_000;
  t.ok(days > 820 && days < 825);
  t.equal((await stat(first.keyFile)).mode & 0o777, 0o600);
  await t.rejects(createSelfSigned({ folder: at('first') }), /key\.pem exists; remove it first/);
});

t.test('a pair that cannot be used is refused with the reason', async (t) => {
  await t.rejects(readCertificate({ ...first, keyFile: second.keyFile }), /does not belong to the certificate/);
  await t.rejects(readCertificate({ ...first, certFile: at('none.pem') }), /none\.pem cannot be read \(ENOENT\)/);
  await t.rejects(readCertificate({ ...first, certFile: at('other/bad.pem') }), /bad\.pem holds no certificate/);
  await t.rejects(readCertificate({ ...first, keyFile: at('other/bad.pem') }), /bad\.pem holds no private key/);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Answer {
  text: () => string;
  ended: () => boolean;
  certificate: PeerCertificate;
  destroy: () => void;
}

/** A request on a connection of its own. */
function get(port: number, path: string, trust: RequestOptions = { rejectUnauthorized: false }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, agent: false, ...trust }, (response) => {
      let text = '';
      let isEnded = false;
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => {
        isEnded = true;
      });
      response.on('error', () => undefined);
      const certificate = (response.socket as TLSSocket).getPeerCertificate();
      resolve({ text: () => text, ended: () => isEnded, certificate, destroy: () => asked.destroy() });
    });
    asked.on('error', reject);
    asked.end();
  });
}

t.test('the public listener speaks TLS and takes a new certificate while streams go on', async (t) => {
  const live = { certFile: at('live-cert.pem'), keyFile: at('live-key.pem') };
  await copyFile(first.certFile, live.certFile);
  await copyFile(first.keyFile, live.keyFile);
  let stream: EventStream | undefined;
  const bed = await openTestBed(
    t,
    [
      plainRoute('GET', '/ok', () => OK, { auth: 'open' }),
      plainRoute('GET', '/livez', () => OK, { auth: 'open', probe: true }),
      plainRoute(
        'GET',
        '/events',
        () => ({
          kind: 'events',
          headers: {},
          start: (opened) => {
            stream = opened;
          },
        }),
        { auth: 'open' },
      ),
    ],
    { publicTls: { ...live, pollMs: 20 } },
    // The address of a port that was asked for as 0 cannot be taken over: the library marks it for reuse only when it has a number.
    await freePort(),
  );
  const port = Number(new URL(bed.publicUrl).port);
  const certificates = await Promise.all([first.certFile, second.certFile].map((file) => readFile(file)));
  const fingerprints = certificates.map((pem) => new X509Certificate(pem).fingerprint256);
  const shown = async (path = '/ok'): Promise<number> => {
    const answer = await get(port, path);
    return fingerprints.indexOf(answer.certificate.fingerprint256);
  };
  const renewals = (): number => bed.lines.filter((line) => line.includes('certificate was renewed')).length;
  const failures = (): number => bed.lines.filter((line) => line.includes('the one before it stays')).length;

  t.strictSame([await shown(), await shown('/livez')], [0, 0]);
  await t.resolves(get(port, '/ok', { ca: certificates.slice(0, 1) }), 'a client that trusts the certificate accepts it');
  await t.rejects(fetch(`http://127.0.0.1:${port}/ok`), 'plain HTTP is not served there');
  t.equal((await fetch(`${bed.url}/ok`)).status, 200, 'the internal listener stays plain');
  const events = await get(port, '/events');
  await eventually(() => stream !== undefined);

  await writeFile(live.certFile, 'torn');
  // The file may be read between its cutting and its writing too.
  await eventually(() => failures() >= 1);
  t.equal(await shown(), 0, 'a bad pair changes nothing');

  const before = failures();
  await copyFile(second.certFile, live.certFile);
  await eventually(() => failures() > before);
  t.equal(await shown(), 0, 'nor does half of a new one');

  await copyFile(second.keyFile, at('next-key.pem'));
  await rename(at('next-key.pem'), live.keyFile);
  await eventually(() => renewals() === 1);
  t.strictSame([await shown(), await shown('/livez')], [1, 1]);

  stream?.write('data: still here\n\n');
  await eventually(() => events.text().includes('still here'));
  t.match(bed.metrics.expose(), /svc_http_connections\{listener="public"\} [1-9]/);
  stream?.end();
  await eventually(() => events.ended());
});

t.test('a listener whose certificate cannot be used does not open', async (t) => {
  const publicTls = { ...first, keyFile: second.keyFile };
  await t.rejects(openTestBed(t, [plainRoute('GET', '/ok', () => OK)], { publicTls }), /does not belong to the certificate/);
});
