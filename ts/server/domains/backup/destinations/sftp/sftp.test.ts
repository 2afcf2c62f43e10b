import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../../../../../test/child-server.ts';
import { newFolder } from '../../../../platform/files/test-support/new-folder.ts';
import { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { openFiles } from '../../open-files.ts';
import { parseLocation, type SftpLocation } from '../location.ts';
import { destinationContract, filesContract } from '../test-support/destination-contract.ts';
import { SftpFiles } from './sftp-files.ts';

t.setTimeout(180_000);
const sshd = '/usr/sbin/sshd';
const missing = existsSync(sshd) && existsSync('/usr/bin/ssh') ? false : 'openssh-server or openssh-client is not installed';
if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });

interface Sshd {
  port: number;
  folder: string;
  keyFile: string;
  knownHostsFile: string;
}

function newKey(file: string): string {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return readFileSync(`${file}.pub`, 'utf8');
}

/** OpenSSH's own server on a free port, as the user of the test, for SFTP alone. */
async function startSshd(t: Test): Promise<Sshd> {
  const root = newFolder(t);
  const port = await freePort();
  const host = newKey(join(root, 'host'));
  writeFileSync(join(root, 'authorized'), newKey(join(root, 'client key')));
  mkdirSync(join(root, 'kept'));
  const config = [
    ...[
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${root}/host`,
      `AuthorizedKeysFile ${root}/authorized`,
      'StrictModes no',
      'UsePAM no',
    ],
    ...[
      'PasswordAuthentication no',
      'PidFile none',
      'PermitRootLogin yes',
      'Subsystem sftp internal-sftp',
      'LogLevel ERROR',
      'MaxStartups 100',
    ],
  ];
  writeFileSync(join(root, 'sshd_config'), `${config.join('\n')}\n`);
  const child = spawn(sshd, ['-D', '-e', '-f', join(root, 'sshd_config')], { stdio: ['ignore', 'ignore', 'inherit'] });
  t.teardown(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const knownHostsFile = join(root, 'known hosts');
  writeFileSync(knownHostsFile, `[127.0.0.1]:${port} ${host}`);
  await untilListening(port, child);
  return { port, folder: join(root, 'kept'), keyFile: join(root, 'client key'), knownHostsFile };
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 1_000 && child.exitCode === null; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('sshd does not listen');
}

const trusting = new AddressPolicy({ trusted: [], allowed: [{ hostname: '127.0.0.1', port: undefined, allowsPlain: true }] });

function openSftp(t: Test, { port, folder, keyFile, knownHostsFile }: Sshd, idleMs = 20_000): SftpFiles {
  const location = parseLocation(`sftp://${userInfo().username}@127.0.0.1:${port}${folder}`) as SftpLocation;
  const files = new SftpFiles({ location, keyFile, knownHostsFile, policy: trusting, idleMs });
  t.teardown(() => files.close());
  return files;
}

t.test('with the SFTP server of OpenSSH', { skip: missing }, async (t) => {
  const server = await startSshd(t);

  await t.test('it keeps files', async (t) => filesContract(t, openSftp(t, { ...server, folder: `${server.folder}/new/deep` })));

  await t.test('a node is backed up to it and restored from it', async (t) => {
    const folder = `sftp://${userInfo().username}@127.0.0.1:${server.port}${server.folder}/node`;
    const { keyFile: sshKeyFile, knownHostsFile: sshKnownHostsFile } = server;
    await destinationContract(t, { folder, remote: { s3CredentialsFile: '', allowedHosts: '', sshKeyFile, sshKnownHostsFile } });
  });

  await t.test('another host key, another key of ours, none, and no server are told apart', async (t) => {
    const other = join(newFolder(t), 'other');
    const hosts = join(other, '..', 'hosts');
    writeFileSync(hosts, `[127.0.0.1]:${server.port} ${newKey(other)}`);
    await t.rejects(openSftp(t, { ...server, knownHostsFile: hosts }).read('a', 1), {
      code: 'destination_unusable',
      message: /Host key verification failed/,
    });
    await t.rejects(openSftp(t, { ...server, keyFile: other }).read('a', 1), {
      code: 'destination_unusable',
      message: /Permission denied/,
    });
    await t.rejects(openSftp(t, { ...server, keyFile: '' }).read('a', 1), { code: 'credentials_needed' });
    await t.rejects(openSftp(t, { ...server, port: await freePort() }).read('a', 1), {
      code: 'destination_unusable',
      message: /refused/,
    });
    const remote = {
      s3CredentialsFile: '',
      allowedHosts: '',
      sshKeyFile: server.keyFile,
      sshKnownHostsFile: server.knownHostsFile,
    };
    const folder = `sftp://${userInfo().username}@127.0.0.1:${server.port}/x`;
    await t.rejects(openFiles(folder, remote, false).read('a', 1), { code: 'invalid_destination' }, 'inside the network');
  });

  await t.test('hostile names and what is no file are left alone', async (t) => {
    const folder = `${server.folder}/hostile`;
    mkdirSync(join(folder, 'chunks', 'aa'), { recursive: true });
    for (const name of ['-rf', 'a b', 'new\nline', '$(x)', '.hidden', 'ok'])
      writeFileSync(join(folder, 'chunks', 'aa', name), 'x');
    symlinkSync('/etc', join(folder, 'chunks', 'link'));
    execFileSync('mkfifo', [join(folder, 'repository.json')]);
    const files = openSftp(t, { ...server, folder });
    t.strictSame(
      (await files.list('chunks')).map(({ path }) => path),
      ['chunks/aa/ok'],
    );
    await t.rejects(openSftp(t, { ...server, folder }, 1000).read('repository.json', 10));
    mkdirSync(join(folder, 'folder.json'));
    await t.rejects(files.read('folder.json', 10));
    if (process.getuid?.() === 0) return;
    chmodSync(join(folder, 'chunks'), 0o500);
    await t.rejects(files.write('chunks/bb/x', Buffer.from('x')), { code: 'destination_unusable' });
  });

  await t.test('a connection that is cut while files are written is opened again, and no part is taken for a file', async (t) => {
    const proxy = await cuttingProxy(t, server.port);
    const knownHostsFile = join(newFolder(t), 'hosts');
    writeFileSync(knownHostsFile, readFileSync(server.knownHostsFile, 'utf8').replace(String(server.port), String(proxy.port)));
    const files = openSftp(t, { ...server, port: proxy.port, folder: `${server.folder}/cut`, knownHostsFile });
    const bytes = Buffer.alloc(250_000, 'abc');
    for (let n = 0; n < 6; n += 1) {
      proxy.cutAfter(n * 60_000 + 10_000);
      await files.write(`chunks/aa/${n}`, bytes);
      t.ok((await files.read(`chunks/aa/${n}`, 250_000))?.equals(bytes));
    }
    proxy.cutAfter(undefined);
    const names = (await files.list('chunks')).map(({ path }) => path).filter((path) => !path.endsWith('.part'));
    t.equal(names.length, 6);
    proxy.close();
    await t.rejects(files.read('chunks/aa/0', 250_000), { code: 'destination_unusable' });
  });
});

/** Ends connections after so many bytes of the client, once. */
async function cuttingProxy(t: Test, port: number) {
  let left: number | undefined;
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    for (const socket of [client, target]) sockets.add(socket.on('error', () => undefined));
    client.on('data', (chunk) => {
      target.write(chunk);
      if (left === undefined) return;
      left -= chunk.length;
      if (left > 0) return;
      left = undefined;
      client.destroy();
      target.destroy();
    });
    target.on('data', (chunk) => client.write(chunk)).on('close', () => client.destroy());
    client.on('close', () => target.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.teardown(close);
  return {
    port: (server.address() as { port: number }).port,
    cutAfter: (bytes: number | undefined) => {
      left = bytes;
    },
    close,
  };
}
