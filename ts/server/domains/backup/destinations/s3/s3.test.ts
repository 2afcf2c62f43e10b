import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { newFolder } from '../../../../platform/files/test-support/new-folder.ts';
import { AddressPolicy } from '../../../../platform/network/address-policy.ts';
import { signRequest } from '../../../../platform/network/aws-signature.ts';
import { openFiles } from '../../open-files.ts';
import { parseLocation, type S3Location } from '../location.ts';
import { destinationContract, filesContract } from '../test-support/destination-contract.ts';
import { KEYS, type S3Service, startS3Service } from '../test-support/s3-service.ts';
import { S3Files } from './s3-files.ts';

t.setTimeout(120_000);

async function credentialsFile(t: Test, { accessKeyId, secretAccessKey } = KEYS): Promise<string> {
  const file = join(newFolder(t), 'credentials');
  writeFileSync(file, `[default]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key=${secretAccessKey}\n[other]\n`);
  return file;
}

const remoteOf = (s3CredentialsFile: string, allowedHosts = '') => ({
  s3CredentialsFile,
  allowedHosts,
  sshKeyFile: '',
  sshKnownHostsFile: '',
});

async function open(t: Test, prefix = 'of/svc'): Promise<{ service: S3Service; files: S3Files; file: string }> {
  const service = await startS3Service(t, 'backups');
  const file = await credentialsFile(t);
  const location = parseLocation(`s3://backups/${prefix}?endpoint=${service.endpoint}&region=eu-central-1`) as S3Location;
  const policy = new AddressPolicy({ trusted: [location.endpoint] });
  const files = new S3Files({ location, credentialsFile: file, policy, idleMs: 2000, retryMs: 5 });
  t.teardown(() => files.close());
  return { service, files, file };
}

t.test('the example of the specification has the signature that it gives', async (t) => {
  const headers = signRequest(
    {
      method: 'GET',
      url: new URL('https://examplebucket.s3.amazonaws.com/test.txt'),
      headers: { range: 'bytes=0-9' },
      body: new Uint8Array(),
    },
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', sessionToken: undefined },
    { region: 'us-east-1', service: 's3' },
    new Date('2013-05-24T00:00:00Z'),
  );
  t.match(headers['authorization'], /Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41$/);
});

t.test('a bucket keeps files', async (t) => filesContract(t, (await open(t)).files));

t.test('a node is backed up into a bucket and restored from it', async (t) => {
  const service = await startS3Service(t, 'backups');
  const folder = `s3://backups/a folder/x?endpoint=${service.endpoint}`;
  await destinationContract(t, { folder: folder.replace(' ', '%20'), remote: remoteOf(await credentialsFile(t)) });
  t.ok([...service.objects.keys()].every((name) => name.startsWith('backups/a folder/x/')));
});

t.test('cut connections, refusals that pass and slow answers are tried again; others are told at once', async (t) => {
  const { service, files } = await open(t);
  let faults = 0;
  const failing = (times: number, fault: (response: import('node:http').ServerResponse) => void): void => {
    faults = 0;
    service.fault = (_, response) => {
      if (faults >= times) return false;
      faults += 1;
      fault(response);
      return true;
    };
  };
  failing(3, (response) => response.destroy());
  await files.write('a.json', Buffer.from('1'));
  failing(2, (response) => void response.writeHead(200, { 'content-length': '100' }).write('cut', () => response.destroy()));
  t.equal((await files.read('a.json', 1000))?.toString(), '1');
  failing(2, (response) => void response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'));
  t.equal((await files.read('a.json', 10))?.toString(), '1');
  failing(1, () => undefined);
  t.equal((await files.read('a.json', 10))?.toString(), '1', 'a silent service is not waited for without end');
  failing(9, (response) => response.destroy());
  await t.rejects(files.read('a.json', 10), { code: 'destination_unusable' });
  t.equal(faults, 4);
  failing(9, (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end());
  await t.rejects(files.read('a.json', 10), { code: 'destination_unusable', message: /redirects are not followed/ });
  t.equal(faults, 1);
  failing(9, (response) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>secret</Message></Error>'));
  await t.rejects(files.write('b.json', Buffer.from('1')), { message: /403 AccessDenied/ });
});

t.test('hostile answers are refused, and what else lies in the bucket is left alone', async (t) => {
  const { service, files } = await open(t);
  for (const key of [
    'of/svc/chunks/../../evil',
    'of/svc/chunks/a b',
    'of/svc/chunks/<x>&',
    'of/svc/chunks/aa/ok',
    'of/svcchunks/x',
  ])
    service.objects.set(`backups/${key}`, { bytes: Buffer.from('x'), modifiedAt: Date.now() });
  t.strictSame(
    (await files.list('chunks')).map(({ path }) => path),
    ['chunks/aa/ok'],
  );
  const answers = [
    'no xml',
    '<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>',
    '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>x</Key></Contents></ListBucketResult>',
    '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>x</Key><LastModified>never</LastModified></Contents></ListBucketResult>',
    `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(1000)}">]><ListBucketResult>&x;</ListBucketResult>`,
  ];
  for (const answer of answers) {
    service.fault = (_, response) => void response.end(answer) === undefined;
    await t.rejects(files.list('chunks'), { code: 'destination_unusable' }, answer.slice(0, 60));
  }
  service.fault = (_, response) => {
    response.writeHead(200);
    const more = (): void => void (response.destroyed || response.write(Buffer.alloc(65_536), () => setImmediate(more)));
    more();
    return true;
  };
  await t.rejects(files.read('repository.json', 100_000), { code: 'backup_damaged' });
});

t.test('keys come from a file alone, and no error shows them', async (t) => {
  const { service } = await open(t);
  const folder = `s3://backups/x?endpoint=${service.endpoint}`;
  await t.rejects(openFiles(folder, remoteOf(''), true).read('a', 1), { code: 'credentials_needed' });
  const empty = join(newFolder(t), 'empty');
  writeFileSync(empty, 'aws_access_key_id = AKIAHIDDEN\n');
  const missing = await openFiles(folder, remoteOf(empty), true)
    .read('a', 1)
    .catch((error: Error) => error);
  t.match(missing, { code: 'credentials_needed' });
  t.notMatch(String((missing as Error).message), /HIDDEN/);
  const wrong = await credentialsFile(t, { ...KEYS, secretAccessKey: 'another-one-of-them' });
  const refused = await openFiles(folder, remoteOf(wrong), true)
    .read('a', 1)
    .catch((error: Error) => error);
  t.match(refused, { code: 'destination_unusable', message: /403 SignatureDoesNotMatch/ });
  t.notMatch(JSON.stringify([refused, String((refused as Error).stack)]), /another-one/);
});

t.test('an address that was named while the node ran must be public and https, unless its host is allowed', async (t) => {
  const { service, file } = await open(t);
  for (const endpoint of [
    service.endpoint,
    'https://127.0.0.1:9000',
    'https://[::1]',
    'https://169.254.169.254',
    'http://s3.example',
  ])
    await t.rejects(
      openFiles(`s3://backups/x?endpoint=${endpoint}`, remoteOf(file), false).read('a', 1),
      { code: 'invalid_destination' },
      endpoint,
    );
  const allowed = openFiles(`s3://backups/x?endpoint=${service.endpoint}`, remoteOf(file, service.endpoint), false);
  t.teardown(() => allowed.close());
  t.equal(await allowed.read('a', 1), undefined);
});
