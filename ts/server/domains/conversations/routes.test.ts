import t from 'tap';
import { NO_ACCOUNTS } from '../../platform/http/authenticator.ts';
import { openConversationBed, PATH } from './test-support/conversation-bed.ts';

t.test('a conversation is created, renamed, written to, found, exported and erased', async (t) => {
  const { ask } = await openConversationBed(t);
  const created = await ask('POST', '', { title: 'First' });
  t.match(created, { status: 201, body: { title: 'First', message_count: 0, version: 1, pinned: false, folder: null } });
  const { id } = created.body;
  t.match(await ask('PATCH', '', { id, title: 'Better', pinned: true, folder: 'Work' }), {
    status: 200,
    body: { title: 'Better', pinned: true, folder: 'Work', version: 2 },
  });
  const message = await ask('POST', 'messages', { conversation_id: id, role: 'user', content: 'Where is the harbour?' });
  t.match(message, { status: 201, body: { conversation_id: id, seq: 1, parent_id: null, content: 'Where is the harbour?' } });
  t.match(await ask('GET', `messages?id=${id}`), { status: 200, body: { data: [{ id: message.body.id }] } });
  t.match((await ask('GET', 'search?q=harb')).body, {
    data: [
      {
        conversation_id: id,
        title: 'Better',
        role: 'user',
        snippet: 'Where is the harbour?',
        matches: [{ start: 13, end: 20 }],
        ts: message.body.ts,
      },
    ],
  });
  const markdown = await ask('GET', `export?id=${id}&format=markdown`);
  t.match(markdown.headers.get('content-type'), 'text/markdown');
  t.match(markdown.text, /^# Better\n.*## User, .*Where is the harbour\?\n$/s);
  t.match(await ask('DELETE', ''), { status: 200, body: { deleted: 1 } });
  t.strictSame((await ask('GET', '')).body, { data: [] });
});

t.test('a body is optional where a conversation is created, and an id makes it repeatable', async (t) => {
  const { ask } = await openConversationBed(t);
  t.match(await ask('POST', ''), { status: 201, body: { title: '' } });
  t.equal((await ask('POST', '', { id: 'mine', title: 'a' })).status, 201);
  t.match(await ask('POST', '', { id: 'mine', title: 'b' }), { status: 200, body: { title: 'a' } });
});

t.test('requests that are wrong are refused with 400 and change nothing', async (t) => {
  const { ask } = await openConversationBed(t);
  const { id } = (await ask('POST', '', { title: 'Kept' })).body;
  const wrong: [string, string, unknown?][] = [
    ['GET', 'messages'],
    ['GET', 'messages?id='],
    ['GET', `messages?id=${id}&limit=0`],
    ['GET', `messages?id=${id}&id=x`],
    ['GET', 'search'],
    ['GET', `search?q=${'x'.repeat(201)}`],
    ['GET', '?after=nonsense'],
    ['GET', '?limit=1001'],
    ['GET', 'export?format=pdf'],
    ['GET', 'export?conversation=x'],
    ['PATCH', '', '{"id": '],
    ['PATCH', '', '[]'],
    ['PATCH', '', {}],
    ['PATCH', '', { id }],
    ['PATCH', '', { id, titel: 'x' }],
    ['PATCH', '', { id, title: 7 }],
    ['PATCH', '', { id, title: 'x'.repeat(501) }],
    ['PATCH', '', { id, title: 'a\0' }],
    ['POST', '', { id: 'a/b' }],
    ['POST', 'messages', { conversation_id: id }],
    ['POST', 'messages', { conversation_id: id, role: 'wizard', content: 'x' }],
    ['POST', 'messages', { role: 'user', content: 'x' }],
    ['DELETE', `?conversation_id=${id}`],
    ['DELETE', '?id='],
    ['DELETE', '', { conversation_id: id }],
    ['DELETE', '', '[]'],
    ['POST', 'import', 'PK\u0003\u0004'],
    ['POST', 'import', '{"data": []}'],
    ['POST', 'import', '[{"a": 1}'],
  ];
  for (const [method, path, body] of wrong)
    t.match(
      await ask(method, path, body),
      { status: 400, body: { error: String, detail: String, path: String } },
      `${method} ${path}`,
    );
  t.match((await ask('GET', '')).body, { data: [{ id, title: 'Kept', version: 1 }] });
});

t.test('a list goes on where the page before ended', async (t) => {
  const { ask } = await openConversationBed(t);
  for (let i = 0; i < 5; i++) await ask('POST', '', { id: `c${i}` });
  const seen: string[] = [];
  let after = '';
  do {
    const { data, next = '' } = (await ask('GET', `?limit=2${after}`)).body;
    seen.push(...data.map(({ id }: { id: string }) => id));
    after = next === '' ? '' : `&after=${next}`;
  } while (after !== '');
  t.strictSame(seen, ['c4', 'c3', 'c2', 'c1', 'c0']);
  t.strictSame((await ask('GET', '/api/v1/users/me/conversations')).body, (await ask('GET', '')).body);
});

t.test('no route shows, changes or erases what is another subject’s or tenant’s, and answers as for an unknown id', async (t) => {
  const { ask } = await openConversationBed(t);
  const { id } = (await ask('POST', '', { title: 'Treasure map' })).body;
  const first = (await ask('POST', 'messages', { conversation_id: id, role: 'user', content: 'Dig at the oak' })).body;
  const requests = (which: string): [string, string, unknown?][] => [
    ['GET', `messages?id=${which}`],
    ['GET', `export?id=${which}`],
    ['GET', `export?id=${which}&format=markdown`],
    ['PATCH', '', { id: which, title: 'Mine' }],
    ['PATCH', '', { id: which, current_message_id: first.id }],
    ['POST', 'messages', { conversation_id: which, role: 'user', content: 'x', id: first.id }],
    ['DELETE', `?id=${which}`],
    ['DELETE', '', { id: which }],
  ];
  for (const other of ['red/ben', 'blue/ann', 'blue/ben']) {
    const unknown = requests('0e4e4ac1-5e4b-4d2a-a0ab-1c1a4a1c3b1d');
    for (const [i, [method, path, body]] of requests(id).entries()) {
      const foreign = await ask(method, path, body, other);
      const [, unknownPath = '', unknownBody] = unknown[i] ?? [];
      t.strictSame(
        [foreign.status, foreign.body],
        [404, (await ask(method, unknownPath, unknownBody, other)).body],
        `${method} ${path}`,
      );
    }
    for (const path of [
      '',
      '/api/v1/users/me/conversations',
      'search?q=dig',
      'search?q=treasure',
      'export',
      'export?format=markdown',
    ])
      t.notMatch((await ask('GET', path, undefined, other)).text, /Treasure|Dig|oak/, path);
    t.strictSame((await ask('DELETE', '', undefined, other)).body, { deleted: 0 });
  }
  t.match((await ask('GET', `messages?id=${id}`)).body, { data: [{ content: 'Dig at the oak' }] });
  t.match((await ask('GET', '')).body, { data: [{ title: 'Treasure map', version: 2 }] });
});

t.test('while authentication is off, everyone is one anonymous caller', async (t) => {
  const { ask, bed } = await openConversationBed(t, NO_ACCOUNTS);
  await ask('POST', '', { title: 'Shared' });
  t.match((await ask('GET', '')).body, { data: [{ title: 'Shared' }] });
  t.equal((await fetch(bed.publicUrl + PATH)).status, 401);
});

t.test('without a credential, and on paths by id, nothing is served', async (t) => {
  const { ask, bed } = await openConversationBed(t);
  t.equal((await fetch(bed.url + PATH)).status, 401);
  t.match(await ask('GET', '/api/v1/conversations/abc'), { status: 404, body: { error: 'not_found' } });
  t.match(await ask('GET', '/api/v1/conversations'), { status: 404 });
});

t.test('an exported file is imported again as it was, once', async (t) => {
  const { ask } = await openConversationBed(t);
  await ask('POST', '', { id: 'c', title: 'T\u2028itle "x"', folder: 'F', pinned: true, model: 'm', metadata: { a: [1] } });
  const append = (body: object) =>
    ask('POST', 'messages', { conversation_id: 'c', role: 'user', content: 'line\n"quote" \\ 東京', ...body });
  await append({ id: 'm1' });
  await append({ id: 'm2', role: 'assistant', model: 'm', citations: [{ n: 1 }], metadata: { t: 2 } });
  await append({ id: 'm3', parent_id: 'm1' });
  await ask('PATCH', '', { id: 'c', current_message_id: 'm2' });
  await ask('POST', '', { id: 'empty' });
  const file = (await ask('GET', 'export')).text;
  const report = await ask('POST', 'import', file, 'blue/eve');
  t.match(report, { status: 200, body: { imported: 2, skipped: 0, messages: 3, failed: [] } });
  const shown = ({ conversations }: { conversations: { version: number }[] }) =>
    conversations.map(({ version: _, ...rest }) => rest);
  t.strictSame(shown((await ask('GET', 'export', undefined, 'blue/eve')).body), shown(JSON.parse(file)));
  t.match((await ask('POST', 'import', file, 'blue/eve')).body, { imported: 0, skipped: 2 });
  t.equal((await ask('GET', 'search?q=東京', undefined, 'blue/eve')).body.data.length, 3);
});
