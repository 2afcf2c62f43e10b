/**
 * The page docs/operate/proxy.md, word by word: its commands make the configuration of the node and of nginx, and then the addresses of real clients
 * arrive. What stands below /etc there is in a folder of the test, and nginx takes other ports than 443 and 80.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { endProxy, listening, missingProxy } from '../ts/cli/edge/test-support/running-proxy.ts';
import { program as cli } from '../ts/cli/run-cli.ts';
import { createSelfSigned } from '../ts/server/platform/http/self-signed.ts';
import { freePort } from './child-server.ts';
import { openProgram } from './matrix/program.ts';

const NGINX = '/usr/sbin/nginx';
const PASSWORD = 'correct horse battery';

t.setTimeout(120_000);

t.test('a node behind nginx as the page puts it there knows its clients', { skip: missingProxy('nginx') ?? false }, async (t) => {
  const machine = await openMachine(t);
  const [, block = ''] =
    /Put it behind nginx[^\n]*\n\n```sh\n([\s\S]*?)```/.exec(readFileSync('docs/operate/proxy.md', 'utf8')) ?? [];
  t.match(block, /svc edge config nginx/, 'the page has the commands');
  machine.run(block);
  const program = await openProgram(join(machine.root, 'etc/svc'), { SVC_LISTEN: machine.listen });
  t.teardown(() => program.stop());
  const { token } = await program.client.json('POST', '/api/v1/auth/register', {}, { username: 'ann', password: PASSWORD });
  await machine.startNginx(t);
  const signIn = (from: string, password: string) =>
    post(machine.tlsPort, from, '/api/v1/auth/login', { username: 'ann', password });

  for (let i = 0; i < 10; i++) t.equal(await signIn('127.0.0.9', 'wrong password'), 401);
  t.equal(await signIn('127.0.0.9', PASSWORD), 429, 'who tried too often has to wait');
  t.equal(await signIn('127.0.0.10', PASSWORD), 200, 'and no other client');
  const { data } = await program.client.json('GET', '/api/v1/identity/audit?action=session.create', {
    authorization: `Bearer ${token}`,
  });
  const addresses = data.map(({ remote_address: address }: { remote_address: string }) => address);
  t.ok(addresses.includes('127.0.0.9') && addresses.includes('127.0.0.10'), `the audit log has the clients: ${addresses}`);
});

/** A folder that stands for the machine of the page, with `sudo`, `svc`, `systemctl` and `nginx` as the page calls them. */
async function openMachine(t: Test) {
  const root = mkdtempSync(join(tmpdir(), 'svc-operate-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const folder of ['bin', 'etc/svc/conf.d', 'etc/nginx/conf.d', 'etc/ssl'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'etc/svc/svc.toml'), '');
  const { certFile, keyFile } = await createSelfSigned({ folder: join(root, 'etc/ssl'), names: ['ai.example'] });
  renameSync(certFile, join(root, 'etc/ssl/ai.pem'));
  renameSync(keyFile, join(root, 'etc/ssl/ai.key'));
  const [tlsPort, plainPort, port] = [await freePort(), await freePort(), await freePort()];
  const listen = `127.0.0.1:${port}`;
  const site = join(root, 'etc/nginx/conf.d/svc.conf');
  const whole = join(root, 'etc/nginx/nginx.conf');
  writeFileSync(whole, wholeFile(root));
  const program = (name: string, text: string): void => {
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(root, 'bin', name), 0o755);
  };
  program('sudo', '[ "$1" = -u ] && shift 2\nexec "$@"');
  program('systemctl', 'exit 0');
  program('svc', `exec ${process.execPath} --no-warnings ${cli} "$@"`);
  program(
    'nginx',
    `sed -i -e 's/listen 443/listen 127.0.0.1:${tlsPort}/' -e 's/listen 80/listen 127.0.0.1:${plainPort}/' ${site}\nexec ${NGINX} -c ${whole} "$@"`,
  );
  const env = {
    ...process.env,
    PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
    SVC_CONFIG: join(root, 'etc/svc/svc.toml'),
    SVC_LISTEN: listen,
  };
  return {
    root,
    listen,
    tlsPort,
    run: (block: string) => execFileSync('sh', ['-ec', block.replaceAll('/etc/', `${root}/etc/`)], { env, stdio: 'pipe' }),
    startNginx: async (t: Test) => {
      const child = spawn(NGINX, ['-g', 'daemon off;', '-c', whole], { stdio: ['ignore', 'ignore', 'pipe'] });
      const said: string[] = [];
      child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      t.teardown(() => endProxy(child));
      await listening(tlsPort, child, said);
    },
  };
}

/** What a distribution's nginx.conf has around its conf.d. */
function wholeFile(root: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${root}/${name};`);
  return `worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${root}/nginx.pid;
error_log ${root}/error.log;
events { worker_connections 64; }
http { access_log off; ${temporary.join(' ')} include ${root}/etc/nginx/conf.d/*.conf; }
`;
}

/** From an address of 127.0.0.0/8, all of which are this machine. */
function post(port: number, localAddress: string, path: string, body: object): Promise<number> {
  const headers = { 'content-type': 'application/json', host: 'ai.example' };
  const options = {
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    localAddress,
    headers,
    rejectUnauthorized: false,
    agent: false,
  } as const;
  return new Promise((resolve, reject) => {
    const asked = request(options, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.end(JSON.stringify(body));
  });
}
