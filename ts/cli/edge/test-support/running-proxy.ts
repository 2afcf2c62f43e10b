/** Tests run the real nginx or HAProxy of the system on free ports of loopback, in a folder of its own, without privileges. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createSelfSigned } from '../../../server/platform/http/self-signed.ts';
import type { EdgePlan } from '../edge-plan.ts';
import { haproxyConfig } from '../haproxy-config.ts';
import { nginxConfig } from '../nginx-config.ts';

export type ProxyName = 'nginx' | 'haproxy';

interface RunningProxy {
  tlsPort: number;
  redirectPort: number;
}

/** The account `nobody`: a proxy that root starts would give up its rights, and then not reach its folder. */
const NOBODY = 65534;
const WRITERS = { nginx: nginxConfig, haproxy: haproxyConfig };
/** How the program checks a configuration, and how it runs in the foreground. */
const ARGUMENTS = {
  nginx: { check: ['-t', '-q', '-c'], run: ['-g', 'daemon off;', '-c'] },
  haproxy: { check: ['-c', '-q', '-f'], run: ['-db', '-f'] },
};

/** Why the program cannot be tested here; undefined: it can. */
export function missingProxy(name: ProxyName): string | undefined {
  const { error } = spawnSync(programOf(name), ['-v'], { stdio: 'ignore' });
  return error === undefined ? undefined : `${name} is not installed`;
}

export async function startProxy(
  t: Test,
  name: ProxyName,
  plan: Pick<EdgePlan, 'upstream' | 'maxBodyBytes'>,
): Promise<RunningProxy> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  const { certFile, keyFile } = await createSelfSigned({ folder: stateDir });
  const bundle = join(stateDir, 'bundle.pem');
  writeFileSync(bundle, readFileSync(certFile, 'utf8') + readFileSync(keyFile, 'utf8'), { mode: 0o600 });
  const [tlsPort, redirectPort] = [await freePort(), await freePort()];
  const file = join(stateDir, 'proxy.conf');
  const whole: EdgePlan = {
    ...plan,
    keyFile,
    stateDir,
    serverNames: ['localhost'],
    certFile: name === 'haproxy' ? bundle : certFile,
    listen: `127.0.0.1:${tlsPort}`,
    redirectListen: `127.0.0.1:${redirectPort}`,
  };
  writeFileSync(file, WRITERS[name](whole));
  const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ('uid' in account) for (const path of ['.', ...readdirSync(stateDir)]) chownSync(join(stateDir, path), NOBODY, NOBODY);
  const { check, run } = ARGUMENTS[name];
  execFileSync(programOf(name), [...check, file], { ...account, cwd: stateDir, stdio: 'pipe' });
  const child = spawn(programOf(name), [...run, file], { ...account, cwd: stateDir, stdio: ['ignore', 'ignore', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  t.teardown(async () => {
    await endProxy(child);
    rmSync(stateDir, { recursive: true, force: true });
  });
  await listening(tlsPort, child, said);
  return { tlsPort, redirectPort };
}

/** Debian keeps both where an ordinary account does not look. */
function programOf(name: ProxyName): string {
  return `/usr/sbin/${name}`;
}

/** The program is asked to end, and is killed after three seconds. */
export async function endProxy(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await once(child, 'exit');
  clearTimeout(timer);
}

/** Rejects with what the program said when it ends before. */
export async function listening(port: number, child: ChildProcess, said: readonly string[]): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if (child.exitCode !== null) throw new Error(`the proxy ended: ${said.join('')}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the proxy does not listen: ${said.join('')}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
