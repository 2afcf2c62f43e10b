import fc from 'fast-check';
import t from 'tap';
import { parseLocation } from './location.ts';

t.test('what an operator writes', async (t) => {
  t.strictSame(parseLocation('/mnt/backups'), { kind: 'folder', folder: '/mnt/backups' });
  t.match(parseLocation('s3://bucket/of/svc?region=eu-central-1'), {
    kind: 's3',
    bucket: 'bucket',
    prefix: 'of/svc',
    endpoint: { host: 's3.eu-central-1.amazonaws.com' },
    isVirtualHost: true,
  });
  t.match(parseLocation('s3://bucket?endpoint=https://s3.lan:9000'), { prefix: '', region: 'us-east-1', isVirtualHost: false });
  t.strictSame(parseLocation('sftp://svc@backup.example/srv/svc'), {
    kind: 'sftp',
    user: 'svc',
    host: 'backup.example',
    port: 22,
    folder: '/srv/svc',
  });
  t.match(parseLocation('sftp://svc@[fd00::5]:2222/srv'), { host: 'fd00::5', port: 2222 });
});

t.test('hostile and mistaken ones are refused, and no password is quoted', async (t) => {
  for (const text of [
    ...[
      '',
      'relative',
      'ftp://host/x',
      'file:///etc',
      'http://host',
      's3://',
      's3:///x',
      'sftp://host/x',
      'sftp://svc@host',
      'sftp://svc@host/',
    ],
    ...[
      's3://-bucket/x',
      's3://bu..cket/x',
      's3://b/x',
      's3://bucket/../x y/%2e%2e/..%2f',
      's3://bucket/a?x=1',
      's3://bucket/a#x',
      's3://bucket:80/x',
    ],
    ...[
      's3://bucket?endpoint=ftp://x',
      's3://bucket?endpoint=https://u:p@x',
      's3://bucket?endpoint=https://x/path',
      's3://bucket?region=../x',
    ],
    ...[
      'sftp://-oProxyCommand=x@host/x',
      'sftp://svc@-oProxyCommand=x/x',
      'sftp://a%20b@host/x',
      'sftp://svc@host/a%0ab',
      'sftp://svc@host/%2e%2e/x',
    ],
    ...['sftp://svc@host/a;rm%20-rf', 'sftp://svc@host/$(x)', 'sftp://svc@host/x?y', '/a\0b', `/${'x'.repeat(5000)}`],
  ])
    t.throws(() => parseLocation(text), { code: 'invalid_destination' }, JSON.stringify(text.slice(0, 60)));
  for (const text of [
    's3://user:swordfish@bucket/x',
    'sftp://svc:swordfish@host/x',
    's3://bucket?endpoint=https://u:swordfish@x',
  ])
    try {
      parseLocation(text);
      t.fail(text);
    } catch (error) {
      t.notMatch(String((error as Error).message), /swordfish/);
    }
});

t.test('property: any text is a location without a control character in it, or is refused', async (t) => {
  const text = fc.oneof(
    fc.string(),
    fc.webUrl(),
    fc
      .tuple(fc.constantFrom('s3://', 'sftp://', 'sftp://a@'), fc.string({ unit: 'binary' }))
      .map(([scheme, rest]) => scheme + rest),
  );
  fc.assert(
    fc.property(text, (given) => {
      try {
        const location = parseLocation(given);
        if (location.kind === 'folder') return true;
        const parts =
          location.kind === 's3'
            ? [location.bucket, location.prefix, location.region]
            : [location.user, location.host, location.folder];
        return parts.every(
          (part) => !/[\p{Cc}$;`|&<>"'\\]/u.test(part) && !part.startsWith('-') && !part.split('/').includes('..'),
        );
      } catch (error) {
        return (error as { code?: unknown }).code === 'invalid_destination';
      }
    }),
    { numRuns: 2000 },
  );
  t.end();
});
