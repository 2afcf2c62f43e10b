/** Chats that name a conversation: what is stored of them, when, and for whom. */
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { scriptedUsage } from '../ts/server/domains/inference/test-support/scripted-engine.ts';
import { type Headers, password } from './matrix/credentials.ts';
import { openProgram } from './matrix/program.ts';

const PATH = '/v1/chat/completions';

interface Stored {
  role: string;
  content: string;
  model?: string;
  metadata?: unknown;
  id: string;
  parent_id: string | null;
}

async function openWorld(t: Test) {
  const program = await openProgram(t.testdir());
  t.teardown(() => program.stop());
  const { client } = program;
  const register = async (username: string): Promise<Headers> => {
    const { token } = await client.json('POST', '/api/v1/auth/register', {}, { username, password });
    return { authorization: `Bearer ${token}` };
  };
  const [ann, ben] = [await register('ann'), await register('ben')];
  const { id } = await client.json('POST', '/api/v1/edge/conversations', ann, { title: 'Harbour' });
  const messages = async (): Promise<Stored[]> =>
    (await client.json('GET', `/api/v1/edge/conversations/messages?id=${id}`, ann)).data;
  const body = (more: object = {}) => ({
    model: 'm',
    conversation_id: id,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Where is it?' },
    ],
    ...more,
  });
  return { ...program, ann, ben, id, messages, body };
}

t.test('both sides are stored, whether the answer is streamed or not', async (t) => {
  const { client, ann, messages, body } = await openWorld(t);
  t.match(await client.json('POST', PATH, ann, body()), { choices: [{ message: { content: 'Hello' } }] });
  const streamed = await client.send({ method: 'POST', path: PATH, headers: ann, body: body({ stream: true }) });
  t.match(streamed.text, /data: \[DONE\]\n\n$/);
  const stored = await messages();
  t.match(stored, [
    { role: 'user', content: 'Where is it?', parent_id: null },
    { role: 'assistant', content: 'Hello', model: 'm', parent_id: stored[0]?.id },
    { role: 'user', content: 'Where is it?', parent_id: stored[1]?.id },
    { role: 'assistant', content: 'Hello', model: 'm', parent_id: stored[2]?.id },
  ]);
  for (const { role, metadata } of stored)
    t.match(metadata, role === 'user' ? undefined : { finish_reason: 'stop', prompt_tokens: 7, completion_tokens: 3 });
});

t.test('a foreign conversation is answered as an unknown one, and nothing is generated', async (t) => {
  const { client, binding, ann, ben, messages, body } = await openWorld(t);
  const ask = (headers: Headers, more: object = {}) => client.send({ method: 'POST', path: PATH, headers, body: body(more) });
  const foreign = await ask(ben, { stream: true });
  t.equal(foreign.status, 404);
  t.match(JSON.parse(foreign.text), { error: { code: 'conversation_not_found' } });
  t.equal((await ask(ben, { stream: true, conversation_id: 'none' })).text, foreign.text);
  t.equal((await ask(ann, { conversation_id: 'none' })).status, 404);
  const { api_key } = await client.json('POST', '/api/v1/identity/keys', ann, { name: 'chat', scopes: ['chat:use'] });
  t.match(await ask({ 'x-api-key': api_key }), { status: 403, text: /insufficient_scope/ });
  t.match(await ask(ann, { messages: [{ role: 'assistant', content: 'x' }] }), { status: 400, text: /user message/ });
  t.match(await ask(ann, { messages: [{ role: 'user', content: 'a\0b' }] }), { status: 400, text: /NUL/ });
  t.equal(binding.engine.jobs.length, 0);
  t.strictSame(await messages(), []);
});

t.test('when the client goes away, the part that was generated is stored and marked; when nothing was, nothing is', async (t) => {
  const { binding, port, ann, messages, body } = await openWorld(t);
  const closeAfter = async (script: typeof binding.engine.script) => {
    binding.engine.script = script;
    const gone = new AbortController();
    const response = await fetch(`http://127.0.0.1:${port}${PATH}`, {
      method: 'POST',
      headers: { ...ann, 'content-type': 'application/json' },
      body: JSON.stringify(body({ stream: true })),
      signal: gone.signal,
    });
    await response.body?.getReader().read();
    gone.abort();
  };
  await closeAfter((sink) => sink.onStart(7, 2));
  await closeAfter((sink) => {
    sink.onStart(7, 2);
    sink.onContent(0, Buffer.from('By the \\"oak'));
  });
  for (let i = 0; i < 100 && (await messages()).length < 2; i++) await sleep(50);
  t.match(await messages(), [
    { role: 'user', content: 'Where is it?' },
    { role: 'assistant', content: 'By the "oak', metadata: { incomplete: 'client_closed' } },
  ]);
  t.equal((await messages()).length, 2);
  // The engine goes on until it sees the cancellation; what it says then changes nothing.
  for (const { sink } of binding.engine.jobs) sink.onDone(scriptedUsage);
  t.equal((await messages()).length, 2);
});
