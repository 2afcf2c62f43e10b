import t from 'tap';
import { openConversationBed } from './test-support/conversation-bed.ts';

const ARTIFACTS = '/api/v1/artifacts';
const PROMPTS = '/api/v1/edge/prompts';

t.test('a conversation is shared inside the tenant and taken back', async (t) => {
  const { ask } = await openConversationBed(t);
  await ask('POST', '', { id: 'c', title: 'Plans' });
  await ask('POST', 'messages', { conversation_id: 'c', role: 'user', content: 'Hello' });
  const shared = await ask('POST', 'share', { id: 'c' });
  t.match(shared, { status: 201, body: { conversation_id: 'c', path: /^\/chat#s=/ } });
  const { share } = shared.body;
  t.equal((await ask('POST', 'share', { id: 'c' })).status, 200);
  const read = await ask('GET', `shared?share=${share}`, undefined, 'red/ben');
  t.match(read, { status: 200, body: { title: 'Plans', data: [{ role: 'user', content: 'Hello' }] } });
  t.notMatch(read.text, /conversation_id/, 'readers are not told the conversation’s id');
  t.equal((await ask('GET', `shared?share=${share}`, undefined, 'blue/ann')).status, 404);
  t.match((await ask('GET', 'shares?id=c')).body, { data: [{ share }] });
  t.equal((await ask('DELETE', `share?share=${share}`, undefined, 'red/ben')).status, 404);
  t.equal((await ask('DELETE', `share?share=${share}`)).status, 204);
  t.match(await ask('GET', `shared?share=${share}`, undefined, 'red/ben'), { status: 404, body: { error: 'share_not_found' } });
});

t.test('an artifact is saved, listed, changed, shared and deleted', async (t) => {
  const { ask } = await openConversationBed(t);
  const created = await ask('POST', ARTIFACTS, { title: 'Clock', kind: 'html', content: '<p>1</p>' });
  t.match(created, { status: 201, body: { title: 'Clock', kind: 'html', last_version: 1 } });
  const { id } = created.body;
  t.match(await ask('POST', `${ARTIFACTS}/${id}/versions`, { content: '<p>2</p>' }), { status: 201, body: { last_version: 2 } });
  t.match((await ask('GET', ARTIFACTS)).body, { data: [{ id, last_version: 2 }] });
  t.match((await ask('GET', `${ARTIFACTS}/${id}?version=1`)).body, { version: 1, content: '<p>1</p>', versions: [{}, {}] });
  const shared = await ask('POST', `${ARTIFACTS}/share/`, { id });
  t.match(shared, { status: 201, body: { version: 2, path: /^\/chat#a=/ } });
  const link = `${ARTIFACTS}/share/${shared.body.share}`;
  t.match(await ask('GET', link, undefined, 'red/ben'), { status: 200, body: { content: '<p>2</p>', version: 2 } });
  t.equal((await ask('GET', link, undefined, 'blue/ann')).status, 404);
  t.equal((await ask('GET', `${ARTIFACTS}/${id}`, undefined, 'red/ben')).status, 404);
  t.equal((await ask('DELETE', link)).status, 204);
  t.equal((await ask('GET', link)).status, 404);
  t.equal((await ask('DELETE', `${ARTIFACTS}/${id}`)).status, 204);
  t.strictSame((await ask('GET', ARTIFACTS)).body, { data: [] });
});

t.test('artifacts are listed in pages', async (t) => {
  const { ask } = await openConversationBed(t);
  for (const id of ['a', 'b', 'c']) await ask('POST', ARTIFACTS, { id, title: id, kind: 'code', content: 'x' });
  const first = (await ask('GET', `${ARTIFACTS}?limit=2`)).body;
  const rest = (await ask('GET', `${ARTIFACTS}?limit=2&after=${first.next}`)).body;
  t.strictSame([...first.data, ...rest.data].map(({ id }: { id: string }) => id).sort(), ['a', 'b', 'c']);
  t.equal(rest.next, undefined);
});

t.test('wrong artifacts and prompts are refused with 400', async (t) => {
  const { ask } = await openConversationBed(t);
  const artifact = { title: 'x', kind: 'html', content: 'x' };
  for (const body of [
    {},
    { ...artifact, kind: 'exe' },
    { ...artifact, content: '' },
    { ...artifact, id: 'a/b' },
    { ...artifact, id: 'share' },
    { ...artifact, content: 'a\0b' },
    { ...artifact, title: 'x'.repeat(501) },
  ])
    t.equal((await ask('POST', ARTIFACTS, body)).status, 400, JSON.stringify(body).slice(0, 60));
  for (const query of ['limit=0', 'limit=201', 'after=x']) t.equal((await ask('GET', `${ARTIFACTS}?${query}`)).status, 400);
  t.equal((await ask('GET', `${ARTIFACTS}/a?version=0`)).status, 400);
  for (const body of [
    {},
    { title: '', content: 'x' },
    { title: 'x', content: 'x'.repeat(20_001) },
    { id: 'shared', title: 'x', content: 'x' },
  ])
    t.equal((await ask('POST', PROMPTS, body)).status, 400);
});

t.test('everybody uses the tenant’s prompts, and developers write them', async (t) => {
  const { ask } = await openConversationBed(t);
  const own = await ask('POST', PROMPTS, { title: 'Mine', content: 'Say it briefly' });
  t.match(own, { status: 201, body: { shared: false } });
  t.equal((await ask('POST', `${PROMPTS}/shared`, { title: 'Ours', content: 'x' })).status, 403, 'a viewer');
  t.match(await ask('PATCH', `${PROMPTS}/${own.body.id}`, { title: 'Better' }), { status: 200, body: { title: 'Better' } });
  t.strictSame((await ask('GET', PROMPTS, undefined, 'red/ben')).body, { data: [] });
  t.equal((await ask('DELETE', `${PROMPTS}/${own.body.id}`, undefined, 'red/ben')).status, 404);
  t.equal((await ask('DELETE', `${PROMPTS}/${own.body.id}`)).status, 204);
});

t.test('folders', async (t) => {
  const { ask } = await openConversationBed(t);
  await ask('POST', '', { title: 'x', folder: 'Work' });
  t.strictSame((await ask('GET', 'folders')).body, { data: [{ folder: 'Work', conversations: 1 }] });
  t.match(await ask('PATCH', 'folders', { folder: 'Work', name: 'Office' }), { status: 200, body: { changed: 1 } });
  t.match((await ask('GET', '?folder=Office')).body, { data: [{ folder: 'Office' }] });
  t.equal((await ask('PATCH', 'folders', { folder: 'Work' })).status, 400);
});
