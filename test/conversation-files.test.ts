/** Files of a conversation are its owner's alone, whatever role the owner has, on either database. */
import t, { type Test } from 'tap';
import { scriptedUsage } from '../ts/server/domains/inference/test-support/scripted-engine.ts';
import { newFolder } from '../ts/server/platform/files/test-support/new-folder.ts';
import { PostgresCluster } from '../ts/server/platform/storage/test-support/postgres-cluster.ts';
import type { Answer } from './matrix/client.ts';
import { type Headers, password, signIn } from './matrix/credentials.ts';
import { openProgram, type Program } from './matrix/program.ts';
import { openQuery, type Query } from './matrix/query.ts';

t.setTimeout(120_000);

const PATH = '/api/v1/edge/conversations';
const SECRET = 'The keeper of the lighthouse of Karvo is Mira Doll, who lights the lamp every evening.';

interface World extends Program {
  readonly ann: Headers;
  readonly bob: Headers;
  readonly admin: Headers;
  readonly query: Query;
  ask(who: Headers, method: string, path: string, body?: unknown): Promise<Answer>;
}

async function openWorld(t: Test, databaseUrl?: string, environment: Record<string, string> = {}): Promise<World> {
  const database: Record<string, string> = databaseUrl === undefined ? {} : { SVC_DATABASE_URL: databaseUrl };
  const program = await openProgram(newFolder(t), { ...database, ...environment });
  t.teardown(() => program.stop());
  const { client } = program;
  const { token } = await client.json('POST', '/api/v1/auth/register', {}, { username: 'root', password });
  const root = { authorization: `Bearer ${token}` };
  await client.json('PUT', '/api/v1/security/enforcement', root, { mode: 'enforce' });
  const make = async (username: string, role: string): Promise<Headers> => {
    await client.json('POST', '/api/v1/identity/users', root, { username, role, password });
    return { authorization: `Bearer ${(await signIn(client, username)).token}` };
  };
  const [ann, bob, admin] = [await make('ann', 'viewer'), await make('bob', 'developer'), await make('sue', 'admin')];
  const query = await openQuery(t, program.databaseUrl);
  return {
    ...program,
    ann,
    bob,
    admin,
    query,
    ask: (headers, method, path, body) => client.send({ method, path, headers, body }),
  };
}

/** Rows of the bases that hold files of conversations, whosever they are. */
async function keysOf({ query }: World): Promise<Record<string, unknown>[]> {
  return await query('select namespace, public_id from data_bases where owner is not null');
}

/** A viewer's conversation with a file. */
async function attach({ client, ann }: World): Promise<{ id: string; fileId: string }> {
  const { id } = await client.json('POST', PATH, ann, { title: 'Mine' });
  const file = await client.json('POST', `${PATH}/files?id=${id}&filename=mine.txt`, ann, SECRET);
  return { id, fileId: file.id };
}

async function testFiles(t: Test, databaseUrl?: string): Promise<void> {
  const world = await openWorld(t, databaseUrl);
  const { client, ann, bob, admin, ask, binding } = world;
  const { id, fileId } = await attach(world);

  await t.test('a viewer adds, lists and reads them; the same bytes again are the same file', async (t) => {
    t.match(await client.json('GET', `${PATH}/files?id=${id}`, ann), {
      data: [{ id: fileId, source: 'mine.txt', state: 'indexed' }],
    });
    t.match(await client.json('GET', `${PATH}/files/${fileId}?id=${id}`, ann), { text: SECRET });
    t.match(await client.json('POST', `${PATH}/files?id=${id}&filename=mine.txt`, ann, SECRET), { id: fileId });
    const other = await client.json('POST', `${PATH}/files?id=${id}&filename=mine.txt`, ann, `${SECRET} Or so they say.`);
    t.equal(other.source, 'mine (2).txt', 'other bytes of the same name are another file');
    await client.json('DELETE', `${PATH}/files/${other.id}?id=${id}`, ann);
    t.equal((await client.json('GET', `${PATH}/files?id=${id}`, ann)).data.length, 1);
    t.match(await ask(ann, 'POST', `${PATH}/files?id=${id}&filename=..`, 'x'), { status: 400, text: /invalid_request/ });
  });

  await t.test('a chat of the conversation is answered from them, and cites them by the conversation', async (t) => {
    const said = {
      model: 'm',
      conversation_id: id,
      messages: [{ role: 'user', content: 'Who is the keeper of the lighthouse of Karvo?' }],
    };
    binding.engine.script = (sink) => {
      sink.onStart(7, 2);
      sink.onContent(0, Buffer.from('The keeper of the lighthouse of Karvo is Mira Doll [1].'));
      sink.onFinish(0, 'stop', '');
      sink.onDone(scriptedUsage);
    };
    const before = binding.engine.jobs.length;
    const answer = await client.json('POST', '/v1/chat/completions', ann, said);
    const { prompt } = binding.engine.jobs[before]?.job ?? {};
    t.match(prompt?.kind === 'chat' ? String(prompt.messagesJson) : '', /Mira Doll/);
    t.match(answer.citations, [{ n: 1, conversation_id: id, document_id: fileId, text: /Mira Doll/ }]);
    t.notOk('namespace' in answer.citations[0]);
    const elsewhere = await client.json('POST', PATH, ann, {});
    const asked = binding.engine.jobs.length;
    await client.json('POST', '/v1/chat/completions', ann, { ...said, conversation_id: elsewhere.id });
    const { prompt: other } = binding.engine.jobs[asked]?.job ?? {};
    t.notMatch(
      other?.kind === 'chat' ? String(other.messagesJson) : '',
      /Mira Doll/,
      'not in another conversation of the same account',
    );
  });

  await t.test('a link to the conversation shows which file was cited, and nothing of what it says', async (t) => {
    const { share } = await client.json('POST', `${PATH}/share`, ann, { id });
    const { data } = await client.json('GET', `${PATH}/shared?share=${share}`, bob);
    const [cited] = data.flatMap(({ citations = [] }: { citations?: object[] }) => citations);
    t.strictSame(cited, { n: 1, source: 'mine.txt', text: '' });
  });

  await t.test('to every other account there is no such thing: not to an administrator either', async (t) => {
    for (const other of [bob, admin]) {
      const files = `${PATH}/files`;
      for (const [method, path, body] of [
        ['GET', `${files}?id=${id}`],
        ['POST', `${files}?id=${id}&filename=a.txt`, SECRET],
        ['GET', `${files}/${fileId}?id=${id}`],
        ['DELETE', `${files}/${fileId}?id=${id}`],
        ['POST', `${files}/${fileId}/keep`, { id, namespace: 'kb' }],
        ['GET', `/v1/files/file-${fileId.replaceAll('-', '')}`],
        ['GET', `/v1/files/file-${fileId.replaceAll('-', '')}/content`],
        ['DELETE', `/v1/files/file-${fileId.replaceAll('-', '')}`],
      ] as const) {
        const answer = await ask(other, method, path, body);
        t.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
      }
      const { id: own } = await client.json('POST', PATH, other, {});
      t.equal((await ask(other, 'GET', `${files}/${fileId}?id=${own}`)).status, 404, 'nor by way of one of their own');
      for (const path of ['/api/v1/vector/namespaces/default', '/v1/vector_stores', '/v1/files', '/api/v1/system/jobs'])
        t.notMatch((await ask(other, 'GET', path)).text, /mine\.txt|conversation\/|Mira/, path);
    }
    t.match(await ask(bob, 'GET', '/v1/vector_stores'), { status: 200, text: /"data":\[\]/ });
  });

  await t.test('no name of a knowledge base leads to them, neither for others nor for the owner', async (t) => {
    const rows = await keysOf(world);
    t.equal(rows.length, 1);
    const [{ namespace, public_id: publicId }] = rows as [{ namespace: string; public_id: string }];
    for (const who of [ann, bob, admin])
      for (const name of [namespace, publicId]) {
        const search = { tenant: 'default', namespace: name, query: 'Who is the keeper of Karvo?' };
        t.equal((await ask(who, 'POST', '/api/v1/vector/search', search)).status, 404);
        const chat = { model: 'm', messages: [{ role: 'user', content: 'Who?' }], knowledge: [name] };
        t.equal((await ask(who, 'POST', '/v1/chat/completions', chat)).status, 404);
        t.equal((await ask(who, 'GET', `/v1/vector_stores/${name.replace('/', '%2F')}`)).status, 404);
        t.equal((await ask(who, 'GET', `/api/v1/vector/namespaces/default/${encodeURIComponent(name)}/documents`)).status, 404);
      }
    const text = { tenant: 'default', namespace, text: SECRET, source: 'planted.txt' };
    t.equal((await ask(bob, 'POST', '/api/v1/vector/ingest', text)).status, 400);
    const begun = { tenant: 'default', namespace, filename: 'planted.txt', size: 9 };
    t.equal((await ask(bob, 'POST', '/api/v1/upload/init', begun)).status, 400);
  });

  await t.test('keeping one in a knowledge base is a step of its own, for roles that may write there', async (t) => {
    const keep = { id, namespace: 'town' };
    t.equal((await ask(ann, 'POST', `${PATH}/files/${fileId}/keep`, keep)).status, 403);
    const { id: own } = await client.json('POST', PATH, bob, {});
    const mine = await client.json('POST', `${PATH}/files?id=${own}&filename=town.txt`, bob, `${SECRET} Bob wrote this.`);
    t.match(await client.json('POST', `${PATH}/files/${mine.id}/keep`, bob, { ...keep, id: own }), {
      namespace: 'town',
      source: 'town.txt',
    });
    const { data } = await client.json('GET', '/api/v1/vector/namespaces/default/town/documents', ann);
    t.match(data, [{ source: 'town.txt' }], 'from then on everybody of the tenant finds it');
    await client.json('DELETE', `${PATH}?id=${own}`, bob);
    t.equal((await client.json('GET', '/api/v1/vector/namespaces/default/town/documents', ann)).data.length, 1);
  });

  await t.test('they are erased with the conversation', async (t) => {
    await client.json('DELETE', `${PATH}?id=${id}`, ann);
    t.equal((await ask(ann, 'GET', `${PATH}/files?id=${id}`)).status, 404);
    const deadline = performance.now() + 20_000;
    while ((await keysOf(world)).length > 0 && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    t.strictSame(await keysOf(world), []);
  });
}

t.test('on SQLite', (t) => testFiles(t));

const missing = PostgresCluster.missing();
t.test('on PostgreSQL', { skip: missing ?? false }, async (t) => {
  const cluster = await PostgresCluster.start();
  t.teardown(() => cluster.remove());
  await testFiles(t, await cluster.newDatabase());
});

t.test('they count against what one account may have, and what is refused leaves nothing', async (t) => {
  const world = await openWorld(t, undefined, { SVC_DATA_ACCOUNT_CONVERSATION_BYTES: '200' });
  const { client, ann, bob, ask } = world;
  const { id, fileId } = await attach(world);
  const more = `${PATH}/files?id=${id}&filename=more.txt`;
  const text = `${SECRET} ${SECRET}`;
  t.match(await ask(ann, 'POST', more, text), { status: 413, text: /conversation_file_quota_exceeded.*200 bytes/ });
  const { id: own } = await client.json('POST', PATH, bob, {});
  t.equal((await ask(bob, 'POST', `${PATH}/files?id=${own}&filename=a.txt`, text)).status, 201, 'others have their own');
  await client.json('DELETE', `${PATH}/files/${fileId}?id=${id}`, ann);
  t.equal((await ask(ann, 'POST', more, text)).status, 201, 'what is deleted counts no more');
});

t.test('of a hundred and ten files that come at once, a conversation takes a hundred at most', async (t) => {
  const { client, bob, ask } = await openWorld(t);
  const { id } = await client.json('POST', PATH, bob, {});
  const add = (i: number): Promise<Answer> => ask(bob, 'POST', `${PATH}/files?id=${id}&filename=${i}.txt`, `${SECRET} ${i}`);
  const answers = await Promise.all(Array.from({ length: 110 }, (_, i) => add(i)));
  const taken = answers.filter(({ status }) => status < 300).length;
  t.ok(taken > 80 && taken <= 100, `${taken} were taken`);
  for (const { status, text } of answers.filter((answer) => answer.status >= 300))
    t.match({ status, text }, { status: 409, text: /too_many_conversation_files/ });
});

t.test('a capability token, which is for no conversation, reaches none of their files', async (t) => {
  const { client, bob, ask } = await openWorld(t);
  const { id } = await client.json('POST', PATH, bob, {});
  const { id: fileId } = await client.json('POST', `${PATH}/files?id=${id}&filename=a.txt`, bob, SECRET);
  for (const limits of [{}, { namespaces: ['kb'] }]) {
    const wanted = { scopes: ['knowledge:read', 'knowledge:write', 'chat:use'], expires_in_seconds: 600, ...limits };
    const { token } = await client.json('POST', '/api/v1/identity/capabilities', bob, wanted);
    const limited = { authorization: `Bearer ${token}` };
    for (const [method, path, body] of [
      ['GET', `${PATH}/files?id=${id}`],
      ['GET', `${PATH}/files/${fileId}?id=${id}`],
      ['POST', `${PATH}/files/${fileId}/keep`, { id, namespace: 'kb' }],
    ] as const)
      t.match((await ask(limited, method, path, body)).status, /^40[34]$/, `${method} ${path}`);
  }
});
