/** Debian's rsyslog takes what a node sends, as it was made. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { freePort } from '../../../../test/child-server.ts';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { createSelfSigned } from '../../platform/http/self-signed.ts';
import { eventually } from '../../platform/http/test-support/test-bed.ts';
import { PROTOCOLS, type Protocol } from './target.ts';
import { openSyslog } from './test-support/syslog-bed.ts';

t.setTimeout(120_000);

const program = '/usr/sbin/rsyslogd';
const skip = existsSync(program) ? false : 'there is no rsyslog here (Debian: apt install rsyslog rsyslog-openssl)';
const host = '127.0.0.1';

/** Runs rsyslog with one listener; each message becomes a line of JSON. */
async function openRsyslog(t: Test, protocol: Protocol) {
  const folder = newFolder(t);
  const [port, out] = [await freePort(), join(folder, 'out')];
  const server = await createSelfSigned({ folder: join(folder, 'server') });
  const client = await createSelfSigned({ folder: join(folder, 'client'), names: ['node-1'], isForClients: true });
  const driver = 'StreamDriver.Name="ossl" StreamDriver.Mode="1"';
  const input = {
    udp: `module(load="imudp")\ninput(type="imudp" address="${host}" port="${port}")`,
    tcp: `module(load="imtcp")\ninput(type="imtcp" address="${host}" port="${port}")`,
    tls:
      `global(DefaultNetstreamDriverCAFile="${client.certFile}" DefaultNetstreamDriverCertFile="${server.certFile}" ` +
      `DefaultNetstreamDriverKeyFile="${server.keyFile}")\n` +
      `module(load="imtcp" ${driver} StreamDriver.AuthMode="x509/name" PermittedPeer=["node-1"])\n` +
      `input(type="imtcp" address="${host}" port="${port}")`,
  }[protocol];
  const fields = ['pri', 'app-name', 'procid', 'timereported', 'hostname', 'msg']
    .map(
      (name) =>
        `property(outname="${name}" name="${name}" format="jsonf" ${name === 'timereported' ? 'dateFormat="rfc3339"' : ''})`,
    )
    .join('\n  constant(value=",")\n  ');
  const template = `template(name="line" type="list") {\n  constant(value="{")\n  ${fields}\n  constant(value="}\\n")\n}`;
  const configuration = join(folder, 'rsyslog.conf');
  writeFileSync(
    configuration,
    `global(workDirectory="${folder}")\n${input}\n${template}\naction(type="omfile" file="${out}" template="line")\n`,
  );
  const checked = spawnSync(program, ['-N1', '-f', configuration], { encoding: 'utf8' });
  t.equal(checked.status, 0, checked.stderr);
  const child = spawn(program, ['-n', '-f', configuration, '-i', join(folder, 'pid')], { stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const lines = (): Record<string, string>[] => {
    const text = existsSync(out) ? readFileSync(out, 'utf8') : '';
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  return { port, lines, files: { server, client } };
}

for (const protocol of PROTOCOLS) {
  t.test(`rsyslog takes lines by ${protocol}`, { skip }, async (t) => {
    const { port, lines, files } = await openRsyslog(t, protocol);
    const { ask, log, stats } = await openSyslog(t, {
      settings: {
        'syslog.ca_cert': files.server.certFile,
        'syslog.client_cert': files.client.certFile,
        'syslog.client_key': files.client.keyFile,
      },
    });
    await ask('PUT', 'config', { host, port, protocol });
    // It listens a moment after it was started, and datagrams do not say whether.
    while (!lines().some(({ msg }) => msg === 'syslog test')) {
      await ask('POST', 'test');
      await wait(50);
    }
    log.error('an über error', { said: 'so "it" is', path: 'C:\\x' });
    log.info('x'.repeat(20_000));
    // In groups: what a receiver has no buffer for is lost by UDP.
    for (let n = 1; n <= 500; n++) {
      log.warn(`numbered ${n}`);
      if (n % 50 === 0) await eventually(() => lines().some(({ msg }) => msg === `numbered ${n}`), 20_000);
    }
    t.strictSame(
      lines().flatMap(({ msg }) => /^numbered (\d+)$/.exec(msg ?? '')?.[1] ?? []),
      Array.from({ length: 500 }, (_, n) => String(n + 1)),
    );
    const found = lines().find(({ msg }) => msg?.startsWith('an über'));
    t.match(found, {
      pri: String(16 * 8 + 3),
      'app-name': 'svc-kernel',
      procid: String(process.pid),
      timereported: /^\d{4}-\d\d-\d\dT.*Z$/,
      msg: 'an über error said="so \\"it\\" is" path="C:\\\\x"',
    });
    const long = lines().find(({ msg }) => msg?.startsWith('xxx'))?.['msg'] ?? '';
    t.ok(
      protocol === 'udp' ? long.length > 1100 && long.length < 1180 : long.length > 7900 && long.length < 8000,
      `${long.length}`,
    );
    t.match(await stats(), { queued: 0, dropped_total: 0 });
  });
}
