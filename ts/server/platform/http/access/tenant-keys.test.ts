import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TenantKeys } from './tenant-keys.ts';

const keys = new TenantKeys({
  'key-of-acme-0001': { tenant: 'acme', tokens_per_minute: 600, priority: true },
  'key-of-other-001': { tenant: 'other' },
});

const tenantOf = (headers: Record<string, string>) =>
  keys.authenticate({ headers: new Map(Object.entries(headers)), path: '/', remoteAddress: '', listener: 'internal' }).tenant;

t.test('a key in either header names its tenant; everyone else is anonymous', (t) => {
  t.equal(tenantOf({ 'x-api-key': 'key-of-acme-0001' }), 'acme');
  t.equal(tenantOf({ authorization: 'Bearer key-of-other-001' }), 'other');
  t.equal(tenantOf({ authorization: 'Bearer none' }), 'default');
  t.equal(tenantOf({}), 'default');
  t.strictSame([keys.tokensPerMinute('acme'), keys.tokensPerMinute('other')], [600, undefined]);
  t.strictSame([keys.allowsPriority('acme'), keys.allowsPriority('other'), keys.allowsPriority('default')], [true, false, false]);
  t.equal(keys.state(), 'off');
  t.end();
});

t.test('a file that cannot be used is named, without its keys', (t) => {
  const path = join(t.testdir(), 'keys.json');
  for (const text of ['{"secret-key-000001": {"tenant": 1}}', '{"short": {"tenant": "a"}}', '{"secret-key-000001"', '[]']) {
    writeFileSync(path, text);
    t.throws(() => TenantKeys.read(path), { message: /keys\.json (must be|cannot be read)(?!.*secret)/ }, text);
  }
  writeFileSync(path, '{"secret-key-000001": {"tenant": "a"}}');
  t.ok(TenantKeys.read(path));
  t.throws(() => TenantKeys.read(join(path, 'none')), /cannot be read/);
  t.end();
});
