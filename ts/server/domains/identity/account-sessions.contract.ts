/** Sessions of other accounts hold on both databases. */
import type { Test } from 'tap';
import { newUrl, onEachDatabase } from '../../platform/storage/test-support/each-database.ts';
import { type IdentityBed, openIdentity, ROOT_PASSWORD } from './test-support/identity-bed.ts';

const PASSWORD = 'another horse battery';
const users = '/api/v1/identity/users';

async function testAccountSessions(t: Test, bed: IdentityBed): Promise<void> {
  const root = await bed.makeRoot();
  const make = async (username: string, role: string, tenant?: string): Promise<{ id: string; session: string }> => {
    const body = { username, password: PASSWORD, role, ...(tenant === undefined ? {} : { tenant }) };
    const { id } = (await bed.ask('POST', users, { as: root, body })).body as { id: string };
    return { id, session: await signIn(username) };
  };
  const signIn = async (username: string, password = PASSWORD): Promise<string> =>
    (await bed.ask('POST', '/api/v1/auth/login', { body: { username, password } })).body.token as string;
  await bed.ask('POST', '/api/v1/identity/tenants', { as: root, body: { id: 'other', name: 'Other' } });
  const admin = await make('administa', 'admin');
  const bob = await make('bob', 'viewer');
  const stranger = await make('stranger', 'viewer', 'other');
  const second = await signIn('bob');
  const of = (id: string, session = ''): string => `${users}/${id}/sessions${session === '' ? '' : `/${session}`}`;
  const isSignedIn = async (as: string): Promise<boolean> => (await bed.ask('GET', '/api/v1/auth/whoami', { as })).status === 200;

  const listed = await bed.ask('GET', of(bob.id), { as: admin.session });
  t.equal(listed.status, 200);
  const sessions = listed.body.data as { id: string; current: boolean; remote_address: string }[];
  t.strictSame(
    sessions.map(({ current }) => current),
    [false, false],
  );
  t.notMatch(JSON.stringify(listed.body), /token|hash/);

  t.equal((await bed.ask('DELETE', of(bob.id, sessions[0]?.id), { as: admin.session })).status, 204);
  t.strictSame([await isSignedIn(bob.session), await isSignedIn(second)].filter(Boolean).length, 1, 'one is over at once');
  t.match(await bed.ask('DELETE', of(bob.id, sessions[0]?.id), { as: admin.session }), {
    status: 404,
    body: { error: 'session_not_found' },
  });
  t.match(await bed.ask('DELETE', of(stranger.id, sessions[1]?.id), { as: root }), { status: 404 }, 'a session of somebody else');
  t.equal((await bed.ask('DELETE', of(bob.id), { as: admin.session })).status, 204);
  t.notOk((await isSignedIn(bob.session)) || (await isSignedIn(second)), 'all are over');

  t.match(await bed.ask('GET', of(stranger.id), { as: admin.session }), { status: 404, body: { error: 'user_not_found' } });
  t.match(await bed.ask('DELETE', of(stranger.id), { as: admin.session }), { status: 404, body: { error: 'user_not_found' } });
  t.ok(await isSignedIn(stranger.session), 'another tenant’s goes on');
  const { id: rootId } = (await bed.ask('GET', '/api/v1/auth/whoami', { as: root })).body.user as { id: string };
  t.match(await bed.ask('GET', of(rootId), { as: admin.session }), { status: 403, body: { error: 'forbidden' } });
  t.match(await bed.ask('DELETE', of(rootId), { as: admin.session }), { status: 403 });
  t.equal((await bed.ask('GET', of(stranger.id), { as: root })).status, 200, 'a superadmin reaches every tenant');
  const viewer = await signIn('bob');
  t.equal((await bed.ask('GET', of(bob.id), { as: viewer })).status, 403);
  const audit = (await bed.ask('GET', '/api/v1/identity/audit', { as: root })).body.data as { action: string }[];
  const ended = audit.filter(({ action }) => action === 'session.end');
  t.match(ended, [
    { target: 'all', detail: { user: bob.id } },
    { target: sessions[0]?.id, detail: { user: bob.id } },
  ]);
  t.ok(await signIn('root', ROOT_PASSWORD));
}

onEachDatabase((t, newDatabase) => {
  const open = async (t: Test) => openIdentity(t, { databaseUrl: await newUrl(t, newDatabase) });
  t.test('sessions of other accounts', async (t) => testAccountSessions(t, await open(t)));
});
