/** Lends this node to others, with a server that repeats what it hears in place of that of llama.cpp. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import t, { type Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { silentLog } from '../../../platform/module/test-support/scripted-context.ts';
import { openNodeCertificate } from '../link/node-certificate.ts';
import { TensorHost } from './tensor-host.ts';

const echo = `#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>
int main(int n, char ** args) {
    int server = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(args[4])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(server, (void *) &at, sizeof at) || listen(server, 4)) return 1;
    for (;;) {
        int client = accept(server, 0, 0);
        char text[64];
        for (ssize_t length; (length = recv(client, text, sizeof text, 0)) > 0;)
            if (send(client, text, length, 0) < 0) break;
        close(client);
    }
}`;
const folder = newFolder(t);
const certificates = await Promise.all(['own', 'a', 'b'].map((id) => openNodeCertificate(join(folder, id), id)));
const [own, a, b] = certificates as [(typeof certificates)[0], (typeof certificates)[0], (typeof certificates)[0]];
const skip = process.platform === 'linux' ? buildFails() : 'the server is written for Linux';

function buildFails(): string | false {
  const program = join(folder, 'ggml-rpc-server');
  writeFileSync(`${program}.c`, echo);
  try {
    execFileSync('cc', ['-o', program, `${program}.c`], { stdio: 'pipe' });
    copyFileSync(program, join(folder, 'llama-server'));
    return false;
  } catch (error) {
    return `no C compiler for the server: ${String(error)}`;
  }
}

function open(t: Test): TensorHost {
  const host = new TensorHost({
    log: silentLog,
    programs: folder,
    port: 0,
    installRoot: folder,
    host: '127.0.0.1',
    certificate: () => own,
  });
  t.teardown(() => host.stop());
  return host;
}

/** What a node hears at a port; empty: nothing. */
async function say(port: number, { cert, key }: typeof own): Promise<string> {
  const socket = tlsConnect({ host: '127.0.0.1', port, cert, key, rejectUnauthorized: false }, () => socket.write('tensors'));
  socket.on('error', () => undefined);
  let heard = '';
  socket.on('data', (bytes: Buffer) => {
    heard += bytes.toString();
    socket.end();
  });
  await new Promise((resolve) => socket.on('close', resolve));
  return heard;
}

t.test('lends itself for one model of a node once, however often it is asked at once', { skip }, async (t) => {
  const host = open(t);
  const asked = await Promise.allSettled([1, 2, 3].map(() => host.serve('a', a.fingerprint, 'large')));
  const ports = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value.port] : []));
  t.equal(await say(ports.at(-1) ?? 0, a), 'tensors');
  t.equal(await say(ports.at(-1) ?? 0, b), '', 'to the node that asked');
  for (const port of ports.slice(0, -1)) t.equal(await say(port, a), '');
});

t.test('goes on for a node that renews its certificate, and ends for one that is removed', { skip }, async (t) => {
  const host = open(t);
  const [{ port }, other] = await Promise.all([host.serve('a', a.fingerprint, 'x'), host.serve('b', b.fingerprint, 'x')]);
  host.trust(['own', 'a']);
  t.equal(await say(port, a), 'tensors');
  while ((await say(other.port, b)) !== '');
});

t.test('is bounded, and lends nothing once it ends', { skip }, async (t) => {
  const host = open(t);
  for (let i = 0; i < 8; i++) await host.serve('a', a.fingerprint, `model ${i}`);
  await t.rejects(host.serve('b', b.fingerprint, 'one more'), { message: /to no more/ });
  await host.serve('a', a.fingerprint, 'model 0');
  await host.stop();
  await t.rejects(host.serve('a', a.fingerprint, 'model 0'), { message: /about to end/ });
});
