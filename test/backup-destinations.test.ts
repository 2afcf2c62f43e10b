/** Backups into a bucket of another's S3 server, by the commands of docs/operate/backups.md, with a passphrase and with a key of age. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import t from 'tap';
import { runCli } from '../ts/cli/run-cli.ts';
import { installS3Server, s3rverKeys, startS3Server } from './s3-server.ts';
import { startServer } from './server.ts';
import { BackedUpNode } from './test-support/backed-up-node.ts';

t.setTimeout(300_000);
const missing = await installS3Server();

t.test('a node is backed up into a bucket, and serves from there on an empty machine', { skip: missing ?? false }, async (t) => {
  const folder = t.testdir({ s3: {}, old: {}, new: {} });
  const [old, fresh, kept] = [join(folder, 'old'), join(folder, 'new'), join(folder, 's3')];
  const endpoint = await startS3Server(t, kept, 'backups');
  const identity = await generateX25519Identity();
  writeFileSync(join(folder, 'identity'), `# created by age-keygen\n${identity}\n`, { mode: 0o600 });
  const { accessKeyId, secretAccessKey } = s3rverKeys;
  writeFileSync(
    join(folder, 'credentials'),
    `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`,
  );
  const credentials = { SVC_BACKUP_S3_CREDENTIALS_FILE: join(folder, 'credentials') };
  const settings = {
    ...credentials,
    SVC_BACKUP_RECIPIENTS: await identityToRecipient(identity),
    SVC_BACKUP_KEEP: '2',
    SVC_BACKUP_ALLOWED_HOSTS: endpoint,
  };
  const node = await BackedUpNode.start(t, old, settings);
  const svc = node.svc.bind(node);

  const bucket = `s3://backups/of/svc?endpoint=${endpoint}`;
  t.match(await svc(['backup', 'destination', `s3://backups/x?endpoint=http://127.0.0.1:1`]), {
    code: 1,
    stderr: /backup\.allowed_hosts/,
  });
  t.match(await svc(['backup', 'destination', `s3://nowhere/x?endpoint=${endpoint}`]), { code: 1, stderr: /no bucket nowhere/ });
  t.match((await svc(['backup', 'destination', bucket])).json(), { folder: bucket, kind: 's3', encrypted: null });
  for (let n = 0; n < 3; n += 1) t.match((await svc(['backup', 'create'])).json(), { state: 'done' });
  const listed = (await svc(['backup', 'list'])).json() as { id: string; encrypted: boolean }[];
  t.match(listed, { length: 2, 0: { encrypted: true } }, 'older ones than are kept are deleted');
  const id = listed[0]?.id ?? '';
  t.strictSame(
    (await svc(['backup', 'verify', id])).json(),
    { verified: [id], missing: {} },
    'the node keeps the key of what it writes',
  );
  await node.verifyByRoute(t, id);
  await node.server.stop();
  const objects = globSync('**/*', { cwd: kept, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = Buffer.concat(objects.map((entry) => readFileSync(join(entry.parentPath, entry.name))));
  t.ok(objects.length > 4);
  t.notOk(bytes.includes('Kept') || bytes.includes('SQLite format'), 'nothing in the bucket can be read');

  const other = { ...credentials, SVC_DATA_DIR: join(fresh, 'data'), SVC_BACKUP_RECIPIENTS: '' };
  const restore = ['backup', 'restore', 'latest', '--from', bucket];
  t.match(await svc(restore, other), { code: 2, stderr: /backup\.identity_file/ }, 'another machine has no key');
  writeFileSync(join(folder, 'foreign'), `${await generateX25519Identity()}\n`);
  t.match(await svc([...restore, '--identity-file', join(folder, 'foreign')], other), { code: 2, stderr: /another key/ });
  t.match(await svc([...restore, '--identity-file', join(folder, 'identity')], other), { code: 0, stdout: /restored/ });
  await node.expectRestored(t, fresh, credentials);
  t.notOk(existsSync(join(fresh, 'data', 'backup-keys')), 'the key of the folder is in no backup');
});

t.test(
  'the key of a folder is a file of age, which the program age opens',
  { skip: hasAge() ? false : 'age is not installed' },
  async (t) => {
    const folder = t.testdir();
    const identity = await generateX25519Identity();
    writeFileSync(join(folder, 'identity'), `${identity}\n`);
    writeFileSync(join(folder, 'passphrase'), 'correct horse battery staple\n');
    const settings = {
      SVC_BACKUP_RECIPIENTS: await identityToRecipient(identity),
      SVC_BACKUP_PASSPHRASE_FILE: join(folder, 'passphrase'),
      SVC_BACKUP_FOLDER: join(folder, 'backups'),
    };
    const server = await startServer(t, { folder, env: settings });
    const env = { ...settings, SVC_LISTEN: new URL(server.url).host, SVC_DATA_DIR: join(folder, 'data') };
    t.match(await runCli(['backup', 'create'], { env }), { code: 0 });
    const file = JSON.parse(readFileSync(join(folder, 'backups', 'repository.json'), 'utf8')) as {
      encryption: { sealed_key: string };
    };
    const input = Buffer.from(file.encryption.sealed_key, 'base64');
    t.equal(execFileSync('age', ['--decrypt', '--identity', join(folder, 'identity')], { input }).length, 32);
    const elsewhere = { SVC_DATA_DIR: join(folder, 'empty') };
    const verify = ['backup', 'verify', '--from', join(folder, 'backups')];
    t.match(await runCli([...verify, '--identity-file', join(folder, 'identity')], { env: elsewhere }), { code: 0 });
    t.match(
      await runCli([...verify, '--passphrase-file', join(folder, 'passphrase')], { env: elsewhere }),
      { code: 0 },
      'either opens it',
    );
  },
);

function hasAge(): boolean {
  return existsSync('/usr/bin/age');
}
