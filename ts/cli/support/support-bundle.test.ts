import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { startServer } from '../../../test/server.ts';
import { cliSetting } from '../cli-setting.ts';
import { runCli } from '../run-cli.ts';
import { plantedSecrets } from './test-support/planted-secrets.ts';

t.setTimeout(300_000);

/** The files of the archive by their names without its folder, as tar itself reads it. */
function unpack(file: string, folder: string): Record<string, string> {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['--extract', '--gzip', '--file', file, '--directory', folder, '--strip-components', '1']);
  const names = execFileSync('tar', ['--list', '--gzip', '--file', file], { encoding: 'utf8' }).trim().split('\n');
  return Object.fromEntries(
    names.map((name) => {
      const inside = name.slice(name.indexOf('/') + 1);
      return [inside, readFileSync(join(folder, inside), 'utf8')];
    }),
  );
}

t.test('without a server: secrets of the log, the settings, the environment and the key files are not in it', async (t) => {
  const { root, run } = cliSetting(t);
  const planted = plantedSecrets();
  const log = join(root, 'svc.log');
  writeFileSync(log, planted.map(({ line }) => JSON.stringify({ message: line })).join('\n'));
  const quiet = ['correct horse battery', 'opensesame', 'swordfish9', 'db password of old', 'kept in a file', 'of this machine'];
  const [passphrase = '', oidc = '', smtp = '', database = '', sealing = '', key = ''] = quiet;
  writeFileSync(join(root, 'passphrase'), `${passphrase}\n`);
  writeFileSync(join(root, 'data', 'sealing.key'), `${sealing}\n`);
  writeFileSync(log, `\nthe mail server took ${smtp}, ${passphrase}, ${sealing} and ${oidc}; ${key}\n`, { flag: 'a' });
  const url = `postgres://svc:${encodeURIComponent(database)}@127.0.0.1:1/svc`;
  writeFileSync(
    join(root, 'svc.toml'),
    `# the old password was ${smtp}\n[smtp]\npassword = "${smtp}"\n[identity.oidc]\nclient_secret = "${oidc}"\n[backup]\npassphrase_file = "passphrase"\n`,
  );
  const file = join(root, 'bundle.tar.gz');
  const env = { SVC_DATABASE_URL: url, SVC_API_KEY: key, SVC_LISTEN: '127.0.0.1:1' };
  const made = await run(['support-bundle', '--log', log, '--output', file, '--json'], { env });
  t.equal(made.code, 0, made.stderr);
  t.equal(statSync(file).mode & 0o777, 0o600);
  const whole = gunzipSync(readFileSync(file)).toString('utf8');
  const secrets = [
    ...planted.map(({ kind, secret }) => ({ kind, secret })),
    ...quiet.map((secret) => ({ kind: secret, secret })),
  ];
  for (const { kind, secret } of secrets) t.notOk(whole.includes(secret), kind);
  t.notOk(whole.includes(encodeURIComponent(database)));
  const files = unpack(file, join(root, 'unpacked'));
  t.match(files['logs/0-svc.log.txt'], /the mail server took \[redacted/);
  t.match(files['configuration.json'], /"smtp.password",\s+"value": "\*\*\*"/);
  t.match(files['doctor.json'], /"listener"/);
  t.match(files['environment.json'], /SVC_DATABASE_URL/);
  t.match(JSON.parse(files['versions.json'] ?? ''), { svc: String, node: process.versions.node });
  t.match(made.json(), { missing: [/./] }, 'what a server would have told is named');
  t.match(await run(['support-bundle', '--output', file]), { code: 6, stderr: /there already/ });
});

t.test('with a server: health, metrics, incidents and its own log are in it', async (t) => {
  const folder = t.testdir();
  const server = await startServer(t, { folder });
  const env = { SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
  const file = join(folder, 'bundle.tar.gz');
  t.match(await runCli(['support-bundle', '--output', file], { env }), { code: 0, stderr: /look through it/ });
  const files = unpack(file, join(folder, 'unpacked'));
  t.match(JSON.parse(files['server/health.json'] ?? ''), { status: String });
  t.match(files['server/metrics.txt'], /^svc_http_/m);
  t.match(files['server/readyz.json'], /ready/);
  t.match(files['server/models.json'], /tiny-chat/);
  t.match(files['server/incidents.json'], /incidents/);
  t.match(files['server/log.json'], /"message": "listening"/);
  t.match(files['migrations.json'], /"pending": \[\]/);
  if (process.platform === 'linux') t.match(files['logs/running-server.txt'], /"message":"listening"/);
});

t.test('a configuration that cannot be read is what the bundle tells', async (t) => {
  const { root, run } = cliSetting(t);
  writeFileSync(join(root, 'svc.toml'), '[smtp]\npassword = "in a broken file"\nlisten = [');
  writeFileSync(join(root, 'log'), 'the server took in a broken file\n');
  const file = join(root, 'bundle.tar.gz');
  t.match(await run(['support-bundle', '--output', file, '--log', join(root, 'log')]), { code: 0 });
  t.notOk(gunzipSync(readFileSync(file)).includes('in a broken file'));
  const files = unpack(file, join(root, 'unpacked'));
  t.match(files['doctor.json'], /not valid TOML/);
  t.notOk('configuration.json' in files);
});
