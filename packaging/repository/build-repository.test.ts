import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { buildRepository, repoFile } from './build-repository.ts';

t.test('a signed repository is checked by whoever uses it', async (t) => {
  const text = repoFile('https://packages.example/svc', true);
  t.match(text, 'gpgcheck=1\nrepo_gpgcheck=1\ngpgkey=https://packages.example/svc/svc.asc\n');
  t.match(text, 'baseurl=https://packages.example/svc/$basearch/\n');
});

t.test('a repository without a key says so', async (t) => {
  const text = repoFile('https://packages.example/svc', false);
  t.match(text, 'gpgcheck=0\nrepo_gpgcheck=0\n');
  t.notMatch(text, 'gpgkey');
});

t.test('what cannot be served is refused, and nothing is removed', async (t) => {
  const folder = t.testdir({ packages: {}, destination: { old: 'kept' } });
  const options = {
    packages: join(folder, 'packages'),
    destination: join(folder, 'destination'),
    key: undefined,
    sourceDateEpoch: 1,
  };
  for (const baseUrl of ['', 'http://packages.example', 'packages.example', 'https://packages.example\ngpgcheck=0'])
    await t.rejects(buildRepository({ ...options, baseUrl }), /give the https address/, baseUrl);
  await t.rejects(buildRepository({ ...options, baseUrl: 'https://packages.example' }), /has no RPM/);
  t.strictSame(readdirSync(options.destination), ['old']);
});
