import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runCli } from '../run-cli.ts';

const folder = t.testdir();
const file = join(folder, 'svc.toml');
writeFileSync(file, 'listen = "127.0.0.1:9999"\n[http]\nmax_body_bytes = 5000000\n');

t.test('a node that trusts no proxy yet is told so, beside the configuration', async (t) => {
  const config = (...more: string[]) => runCli(['edge', 'config', 'nginx', ...more], { env: { SVC_CONFIG: file } });
  t.match(await config(), { code: 0, stdout: /^# svc behind nginx/, stderr: /set edge\.trusted_proxies to the address/ });
  const env = { SVC_CONFIG: file, SVC_EDGE_TRUSTED_PROXIES: '127.0.0.1' };
  t.match(await runCli(['edge', 'config', 'nginx'], { env }), { code: 0, stderr: '' });
});

async function edge(...args: string[]) {
  const { code, stdout } = await runCli(['edge', 'config', ...args, '--config', file]);
  return { code, out: stdout };
}

t.test('the configuration follows that of the node', async (t) => {
  for (const proxy of ['nginx', 'haproxy']) {
    const { code, out } = await edge(proxy, '--name', 'ai.example', '--name', 'www.ai.example');
    t.equal(code, 0);
    for (const text of ['127.0.0.1:9999', '5000000', 'X-Svc-Public-Edge 1', 'https://ai.example', 'payload_too_large']) {
      t.ok(out.includes(text), `${proxy} has ${text}`);
    }
  }
  t.ok(
    (await edge('nginx', '--name', 'ai.example', '--name', 'www.ai.example')).out.includes(
      'server_name ai.example www.ai.example;',
    ),
  );
  t.notOk((await edge('nginx', '--redirect-from', 'none')).out.includes('return 308'));
  t.ok((await edge('haproxy', '--listen', '[::1]:8443')).out.includes('bind [::1]:8443 ssl'));
});

t.test('what could end a line or a block of the file is refused', async (t) => {
  for (const args of [
    ['apache'],
    ['nginx', '--name', 'a;b'],
    ['nginx', '--name', 'a b'],
    ['nginx', '--name', ''],
    ['nginx', '--name', 'a{'],
    ['nginx', '--cert', 'relative.pem'],
    ['nginx', '--cert', '/a;b'],
    ['nginx', '--key', '/a\nb'],
    ['nginx', '--listen', '443; return 200'],
    ['nginx', '--listen', '70000'],
    ['nginx', '--listen', '0'],
    ['nginx', '--upstream', 'a b:1'],
    ['haproxy', '--unprivileged', '/x}'],
  ]) {
    const { code, out } = await edge(...args);
    t.equal(code, 2, args.join(' '));
    t.equal(out, '', 'nothing is printed');
  }
});
