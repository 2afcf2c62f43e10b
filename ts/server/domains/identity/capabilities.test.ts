import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { makeCapability } from './test-support/capabilities.ts';
import { openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';
import { movableClock } from './test-support/movable-clock.ts';

t.test('tokens survive a restart, and a key that was moved away', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { token } = await makeCapability(bed, root, { scopes: ['chat:use'] });
  const again = await bed.restart();
  const use = (text: string) => again.ask('POST', '/v1/chat/completions', { headers: { authorization: `Bearer ${text}` } });
  t.equal((await use(token)).status, 200);
  rmSync(join(bed.dataDir, 'sealing.key'));
  const third = await again.restart();
  const other = await makeCapability(third, root, { scopes: ['chat:use'] });
  for (const text of [token, other.token]) {
    const headers = { authorization: `Bearer ${text}` };
    t.equal((await third.ask('POST', '/v1/chat/completions', { headers })).status, 200);
  }
});

t.test('a known token is resolved without the database, until it expires', async (t) => {
  const moveClock = movableClock(t);
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const { token } = await makeCapability(bed, root, { scopes: ['chat:use'], expires_in_seconds: 60 });
  const headers = new Map([['authorization', `Bearer ${token}`]]);
  const source = { headers, path: '/v1/chat/completions', remoteAddress: '192.0.2.1', listener: 'internal' as const };
  const { authenticator } = bed.module.api;
  await authenticator.authenticate(source);
  await bed.storage.close();
  t.match(authenticator.authenticate(source), { kind: 'capability' });
  moveClock(61_000);
  await t.rejects(Promise.resolve(authenticator.authenticate(source)), { code: 'credential_check_unavailable' });
});

t.test('before the first account nobody has a token', async (t) => {
  const bed = await openIdentity(t);
  const made = await bed.ask('POST', '/api/v1/identity/capabilities', { body: { scopes: ['chat:use'], expires_in_seconds: 60 } });
  t.match(made, { status: 403, body: { error: 'no_account' } });
  t.match(await bed.ask('POST', '/api/v1/auth/register', { body: { username: 'root', password: ROOT_PASSWORD } }), {
    status: 201,
  });
});
