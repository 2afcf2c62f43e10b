import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { newFolder } from '../../platform/files/test-support/new-folder.ts';
import { PostgresCluster } from '../../platform/storage/test-support/postgres-cluster.ts';
import { productKeys } from './public-keys.ts';
import { inspectLicense } from './signed-license.ts';
import { type LicenseBed, licenseWith, openLicense } from './test-support/license-bed.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const expiry = Date.parse('2027-01-01T00:00:00Z');

const mayAdd = ({ module }: LicenseBed): string => {
  try {
    module.api.requireFeature('rag');
    return 'yes';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

t.test('without a license everything can be evaluated for a year, and then nothing be added', async (t) => {
  const bed = await openLicense(t);
  t.match(await bed.health(), {
    status: 'evaluation',
    tier: 'evaluation',
    features: ['rag', /./],
    problem: null,
    license_id: null,
  });
  t.notOk(JSON.stringify(await bed.health()).includes('"sso"'), 'who may sign in is decided by no license');
  t.equal(mayAdd(bed), 'yes');
  t.strictSame(await bed.module.health(), { state: {}, reasons: [] });
  bed.clock.now += 366 * DAY_MS;
  t.match(await bed.health(), { status: 'evaluation_ended' });
  t.equal(mayAdd(bed), 'license_expired');
  t.ok(bed.module.api.has('rag'), 'what is there goes on to work');
  t.match(await bed.module.health(), { reasons: [{ code: 'license_evaluation_ended' }] });
});

t.test('a license decides tier and features, until its grace period is over', async (t) => {
  const bed = await openLicense(t);
  bed.clock.now = expiry - DAY_MS;
  const { installation } = await bed.health();
  t.match(await bed.install(licenseWith({ installation })), { status: 200, body: { status: 'active', tier: 'team' } });
  t.match(await bed.health(), {
    features: ['rag'],
    licensee: 'Example GmbH',
    license_id: 'lic_1',
    expires_at: '2027-01-01T00:00:00.000Z',
    grace_ends_at: '2027-01-31T00:00:00.000Z',
  });
  t.throws(() => bed.module.api.requireFeature('cluster'), { code: 'feature_not_licensed', extra: { feature: 'cluster' } });
  const course: [at: number, status: string, mayAdd: string][] = [
    [Date.parse('2025-12-31T23:59:59Z'), 'not_yet_valid', 'license_expired'],
    [expiry - 1, 'active', 'yes'],
    [expiry, 'grace', 'yes'],
    [expiry + 30 * DAY_MS - 1, 'grace', 'yes'],
    [expiry + 30 * DAY_MS, 'expired', 'license_expired'],
  ];
  for (const [at, status, added] of course) {
    bed.clock.now = at;
    t.match(await bed.health(), { status });
    t.equal(mayAdd(bed), added, status);
  }
  t.ok(bed.module.api.has('rag'));
});

t.test('a license that cannot be used is refused, and the one before stays', async (t) => {
  const bed = await openLicense(t);
  bed.clock.now = expiry - DAY_MS;
  await bed.install(licenseWith());
  const good = licenseWith({ tier: 'enterprise' });
  const flipped = `${good.terms.slice(0, -1)}${good.terms.endsWith('A') ? 'B' : 'A'}`;
  const { privateKey } = generateKeyPairSync('ed25519');
  const refused: [what: string, license: unknown, status: number, code: string][] = [
    ['for another installation', licenseWith({ installation: '00000000-0000-0000-0000-000000000000' }), 422, 'license_foreign'],
    ['with changed terms', { ...good, terms: flipped }, 422, 'license_tampered'],
    ['with the signature of another', { ...good, signature: licenseWith().signature }, 422, 'license_tampered'],
    ['signed by a stranger', licenseWith({}, privateKey), 422, 'license_tampered'],
    ['with an unknown key', { ...good, key: 'svc-1999' }, 422, 'license_unknown_key'],
    ['without an expiry', licenseWith({ expires_at: undefined }), 422, 'license_malformed'],
    ['with a wrong time', licenseWith({ expires_at: '2027-02-31T25:00:00Z' }), 422, 'license_malformed'],
    ['that is none', { license: 'please' }, 400, 'invalid_request'],
    ['of another format', { ...good, format: 'svc-license-2' }, 400, 'invalid_request'],
    ['that is too large', { ...good, key: 'x'.repeat(100_000) }, 413, 'payload_too_large'],
  ];
  for (const [what, license, status, code] of refused) {
    t.match(await bed.install(license), { status, body: { error: code } }, what);
  }
  t.match(await bed.health(), { status: 'active', tier: 'team', problem: null });
});

t.test('a file that is put there by hand counts as none when it cannot be used, and the reason is told', async (t) => {
  const folder = newFolder(t);
  const foreign = licenseWith({ installation: '00000000-0000-0000-0000-000000000000' });
  writeFileSync(join(folder, 'license.json'), JSON.stringify(foreign));
  const bed = await openLicense(t, { folder });
  t.match(await bed.health(), { status: 'evaluation', problem: { code: 'license_foreign' } });
  t.match(await bed.module.health(), { reasons: [{ code: 'license_foreign' }] });
  t.equal(mayAdd(bed), 'yes', 'the evaluation goes on');
  const contents: [text: string, code: string][] = [
    ['', 'license_malformed'],
    ['{'.repeat(100_000), 'license_malformed'],
    ['null', 'license_malformed'],
    [JSON.stringify({ ...licenseWith(), signature: 'A'.repeat(86) }), 'license_tampered'],
  ];
  for (const [text, code] of contents) {
    writeFileSync(bed.file, text);
    const again = await openLicense(t, { folder });
    t.match(await again.health(), { status: 'evaluation', problem: { code } }, text.slice(0, 40));
  }
  await bed.install(licenseWith());
  t.match(JSON.parse(readFileSync(bed.file, 'utf8')), { format: 'svc-license-1' });
  t.match(await (await openLicense(t, { folder })).health(), { license_id: 'lic_1' }, 'it is there after a restart');
});

t.test('a license that the product did not sign is none', async (t) => {
  t.match(inspectLicense(JSON.stringify(licenseWith()), productKeys), { fault: { code: 'license_unknown_key' } });
  t.match(inspectLicense(JSON.stringify({ ...licenseWith(), key: 'svc-2026' }), productKeys), {
    fault: { code: 'license_tampered' },
  });
});

const missing = PostgresCluster.missing();
t.test('nodes on one PostgreSQL database are one installation', missing === undefined ? {} : { skip: missing }, async (t) => {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  const databaseUrl = await cluster.newDatabase();
  const one = await openLicense(t, { databaseUrl });
  const two = await openLicense(t, { databaseUrl });
  const { installation } = await one.health();
  t.match(await two.health(), { installation });
  const other = await openLicense(t, { databaseUrl: await cluster.newDatabase() });
  t.not((await other.health())['installation'], installation);
});
