/** What the look of tenants' pages must do on either database. */

import sharp from 'sharp';
import type { Test } from 'tap';
import { newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';
import { sendLogo } from './test-support/send-logo.ts';

const themeOf = (tenant: string): string => `/api/v1/tenants/${tenant}/theme`;
const logoOf = (tenant: string): string => `/api/v1/tenants/${tenant}/branding/logo`;
const PLAIN = { name: null, accent: null, accent_dark: null, welcome: null, logo: null };

async function testBranding(t: Test, bed: IdentityBed): Promise<void> {
  const root = await bed.makeRoot();
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'red' } });
  const admin = { username: 'red-admin', role: 'admin', tenant: 'red', password: ROOT_PASSWORD };
  await bed.ask('POST', '/api/v1/identity/users', { as: root, body: admin });
  const login = await bed.ask('POST', '/api/v1/auth/login', { body: { username: 'red-admin', password: ROOT_PASSWORD } });
  const session = login.body.token as string;

  t.match(await bed.ask('GET', themeOf('red')), { status: 200, body: PLAIN });
  t.match(
    await bed.ask('GET', themeOf('nobody')),
    { status: 200, body: PLAIN },
    'an unknown tenant looks like one that chose nothing',
  );
  const theme = { name: 'Red Research', accent: '#8a1c3c', accent_dark: '#ff9db0', welcome: 'Ask the library.' };
  t.match(await bed.ask('PUT', themeOf('red'), { as: session, body: theme }), { status: 200, body: { ...theme, logo: null } });
  t.match(await bed.ask('GET', themeOf('red')), { body: theme }, 'strangers see it: the sign-in page shows it');
  t.match(await bed.ask('GET', themeOf('default')), { body: PLAIN }, 'another tenant stays as it is');
  t.match(await bed.ask('PUT', themeOf('default'), { as: session, body: theme }), {
    status: 404,
    body: { error: 'tenant_not_found' },
  });
  t.match(await bed.ask('PUT', themeOf('nobody'), { as: root, body: theme }), { status: 404 });
  t.equal((await bed.ask('PUT', themeOf('red'), { body: theme })).status, 401);

  const wide = await sharp({ create: { width: 2000, height: 500, channels: 3, background: '#8a1c3c' } })
    .jpeg()
    .withExif({ IFD0: { Copyright: 'a secret place' } })
    .toBuffer();
  const stored = await sendLogo(bed, session, 'red', wide);
  t.match(stored, { status: 200, body: { logo: /^\/api\/v1\/tenants\/red\/branding\/logo\?v=[0-9a-f]{16}$/ } });
  const logo = await fetch(bed.url + stored.body['logo']);
  const png = Buffer.from(await logo.arrayBuffer());
  t.equal(logo.headers.get('content-type'), 'image/png');
  t.match(logo.headers.get('content-security-policy'), /sandbox/);
  const { format, width, height, exif } = await sharp(png).metadata();
  t.strictSame({ format, width, height, exif }, { format: 'png', width: 480, height: 120, exif: undefined });
  t.notOk(png.includes('a secret place'));
  t.equal((await sendLogo(bed, session, 'default', wide)).status, 404);
  t.match(
    await bed.ask('PUT', themeOf('red'), { as: session, body: {} }),
    { body: { name: null, logo: /logo/ } },
    'the logo stays',
  );
  t.equal((await bed.ask('DELETE', logoOf('red'), { as: session })).status, 204);
  t.match(await bed.ask('GET', logoOf('red')), { status: 404, body: { error: 'logo_not_found' } });
  const { body: audit } = await bed.ask('GET', '/api/v1/security/audit?q=tenant.', { as: session });
  t.strictSame(
    (audit.data as { action: string }[]).map(({ action }) => action),
    ['tenant.logo', 'tenant.theme', 'tenant.logo', 'tenant.theme'],
  );
  await bed.ask('PUT', themeOf('red'), { as: session, body: theme });
  t.equal((await bed.ask('DELETE', '/api/v1/identity/tenants/red?force=true', { as: root })).status, 204);
  t.match(await bed.ask('GET', themeOf('red')), { body: PLAIN }, 'it goes with its tenant');
}

onEachDatabase((t, newDatabase) => {
  const open = async (t: Test) => openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  t.test('a tenant chooses its name, colours, words and logo', async (t) => testBranding(t, await open(t)));
});
