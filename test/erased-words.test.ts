/** What was erased is in no file of the data folder half a minute later, whichever route erased it, while others read. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { type Headers, password, signIn } from './matrix/credentials.ts';
import { openProgram, type Program } from './matrix/program.ts';

t.setTimeout(120_000);

const LIMIT_MS = 30_000;
/** No word of the program, of a stemmer or of base64 is one of these. */
const word = (place: string): string => `qzx${place}vqk`;

interface World extends Program {
  readonly folder: string;
  readonly root: Headers;
}

async function openWorld(t: Test): Promise<World> {
  const folder = newFolder(t);
  const program = await openProgram(folder);
  t.teardown(() => program.stop());
  const { token } = await program.client.json('POST', '/api/v1/auth/register', {}, { username: 'root', password });
  return { ...program, folder: join(folder, 'data'), root: { authorization: `Bearer ${token}` } };
}

async function addAccount({ client, root }: World, tenant: string, username: string, role: string) {
  const { id } = await client.json('POST', '/api/v1/identity/users', root, { username, tenant, role, password });
  return { id: id as string, headers: { authorization: `Bearer ${(await signIn(client, username)).token}` } as Headers };
}

/** Those of the words that some file has, with the file. */
function found(folder: string, words: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap(({ parentPath, name }) => {
    const bytes = readFileSync(join(parentPath, name));
    return words.filter((each) => bytes.includes(each)).map((each) => `${each} in ${name}`);
  });
}

async function untilNone(t: Test, folder: string, words: readonly string[]): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  let left = found(folder, words);
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(100);
    left = found(folder, words);
  }
  t.strictSame(left, []);
}

/** Everything in which a person says something; the words are told apart by `mark`. */
async function say({ client }: World, tenant: string, mark: string, person: Headers, steward: Headers) {
  const post = (path: string, body: object, as = person) => client.json('POST', path, as, body);
  const of = (place: string) => word(`${place}${mark}`);
  const conversation = await post('/api/v1/edge/conversations', { title: of('title'), metadata: { note: of('meta') } });
  const said = { conversation_id: conversation.id, role: 'user', content: `${of('said')} `.repeat(3_000) };
  await post('/api/v1/edge/conversations/messages', said);
  const chat = { model: 'm', messages: [{ role: 'user', content: of('asked') }], conversation_id: conversation.id };
  await post('/v1/chat/completions', chat);
  await post('/api/v1/edge/conversations/share', { id: conversation.id });
  const artifact = await post('/api/v1/artifacts', { title: of('drawn'), kind: 'html', content: of('artifact') });
  const prompt = await post('/api/v1/edge/prompts', { title: of('named'), content: of('prompt') });
  const response = await post('/v1/responses', { model: 'm', input: of('response') });
  const background = await post('/v1/responses', { model: 'm', input: of('background'), background: true });
  while ((await client.json('GET', `/v1/responses/${background.id}`, person)).status !== 'completed') await sleep(10);
  const namespace = `base-${mark}`;
  await post(`/api/v1/vector/namespaces/${tenant}`, { namespace }, steward);
  const text = `The lighthouse of ${of('document')}.`;
  const document = await post('/api/v1/vector/ingest', { tenant, namespace, text, source: of('source') }, steward);
  const form = ['name="purpose"\r\n\r\nassistants', `name="file"; filename="a.txt"\r\n\r\nOf ${of('file')}.`];
  const parts = form.map((part) => `--mark\r\nContent-Disposition: form-data; ${part}\r\n`).join('');
  const type = 'multipart/form-data; boundary=mark';
  const file = await client.json('POST', '/v1/files', steward, `${parts}--mark--\r\n`, type);
  const store = await post('/v1/vector_stores', { name: `store-${mark}`, file_ids: [file.id] }, steward);
  const places = [
    ...['title', 'meta', 'said', 'asked', 'drawn', 'artifact', 'named', 'prompt', 'response', 'background'],
    ...['document', 'source', 'file'],
  ];
  const ids = { conversation: conversation.id, artifact: artifact.id, prompt: prompt.id, response: response.id };
  return {
    ids: { ...ids, background: background.id, namespace, document: document.id, file: file.id, store: store.id },
    words: places.map(of),
  };
}

t.test('each route that erases', async (t) => {
  const world = await openWorld(t);
  const { client, folder, root } = world;
  await client.json('POST', '/api/v1/identity/tenants', root, { id: 'amber', name: 'amber' });
  const [person, steward] = [await addAccount(world, 'amber', 'ann', 'viewer'), await addAccount(world, 'amber', 'stu', 'admin')];
  const { ids, words } = await say(world, 'amber', 'one', person.headers, steward.headers);
  t.ok(
    words.every((each) => found(folder, [each]).length > 0),
    'all of them are in files before',
  );
  const erase = (path: string, as = person.headers) => client.json('DELETE', path, as);
  await erase(`/api/v1/edge/conversations?id=${ids.conversation}`);
  await erase(`/api/v1/artifacts/${ids.artifact}`);
  await erase(`/api/v1/edge/prompts/${ids.prompt}`);
  await erase(`/v1/responses/${ids.response}`);
  await erase(`/v1/responses/${ids.background}`);
  await erase(`/api/v1/vector/documents/amber/${ids.namespace}/${ids.document}`, steward.headers);
  await erase(`/v1/vector_stores/${ids.store}`, steward.headers);
  await erase(`/v1/files/${ids.file}`, steward.headers);
  await untilNone(t, folder, words);

  await t.test('all conversations of a caller, and what was overwritten', async (t) => {
    const post = (path: string, body: object) => client.json('POST', path, person.headers, body);
    const title = word('before');
    const { id } = await post('/api/v1/edge/conversations', { title });
    await post('/api/v1/edge/conversations/messages', { conversation_id: id, role: 'user', content: word('all') });
    await client.json('DELETE', '/api/v1/edge/conversations', person.headers);
    await untilNone(t, folder, [title, word('all')]);
  });

  await t.test('an account', async (t) => {
    const own = (await say(world, 'amber', 'two', person.headers, steward.headers)).words.slice(0, 10);
    await client.json('DELETE', `/api/v1/identity/users/${person.id}`, root);
    await untilNone(t, folder, own);
  });

  await t.test('a tenant, while others write and a program reads the log', async (t) => {
    await client.json('POST', '/api/v1/identity/tenants', root, { id: 'birch', name: 'birch' });
    const [bea, bob] = [await addAccount(world, 'birch', 'bea', 'admin'), await addAccount(world, 'birch', 'bob', 'viewer')];
    const { words } = await say(world, 'birch', 'three', bob.headers, bea.headers);
    const reader = new Database(world.databaseUrl.slice('sqlite:'.length), { readonly: true });
    t.teardown(() => void reader.close());
    reader.exec('begin');
    reader.prepare('select count(*) from conversations').get();
    await client.json('DELETE', '/api/v1/identity/tenants/birch?force=true', root);
    const title = 'of another tenant';
    for (let i = 0; i < 50; i += 1) await client.json('POST', '/api/v1/edge/conversations', steward.headers, { title });
    t.not(found(folder, words).length, 0, 'the log has them still');
    reader.exec('rollback');
    await untilNone(t, folder, words);
  });
});
