/** `/mcp` with the protocol's own client, in both revisions. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t, { type Test } from 'tap';
import type { Principal } from '../../../platform/http/principal.ts';
import { callerOf, openEdge } from '../test-support/edge-bed.ts';

type Bed = Awaited<ReturnType<typeof openEdge>>;
type Mode = 'legacy' | 'auto';

const ann = callerOf('usr_ann', 'viewer');
const admin = callerOf('usr_admin', 'admin');
const asks = { rules: [{ tools: ['test.*'], decision: 'ask' }] };

interface Connected {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** @param answer what the person answers to an elicitation; undefined: the client has none. */
async function connect(t: Test, bed: Bed, as: Principal, mode: Mode, answer?: (message: string) => object): Promise<Connected> {
  const capabilities = answer === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  if (answer !== undefined) client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message) as never);
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', bed.url), {
    requestInit: { headers: { 'x-as': JSON.stringify(as) } },
  });
  await client.connect(transport);
  t.teardown(() => client.close());
  return { client, transport };
}

function textOf(result: unknown): string {
  return (result as { content: [{ text: string }] }).content[0].text;
}

for (const [mode, revision] of [
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
] as const) {
  t.test(`${revision}: tools, documents and prompts of the caller, and no others`, async (t) => {
    const bed = await openEdge(t, { uses: { of: () => (name: string) => name !== 'test.write' } });
    const { client } = await connect(t, bed, ann, mode);
    t.equal(client.getNegotiatedProtocolVersion(), revision);
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    t.ok(names.includes('test_read') && names.includes('web_fetch'));
    t.notOk(names.includes('test_write'), 'groups do not leave it to the caller');
    t.notOk(names.includes('web_search'), 'no provider is chosen');
    t.match(
      tools.find(({ name }) => name === 'test_destroy'),
      { annotations: { readOnlyHint: false, destructiveHint: true }, inputSchema: { type: 'object' } },
    );
    const called = await client.callTool({ name: 'test_read', arguments: { text: 'a' } });
    t.match(called, { structuredContent: { did: 'a' } });
    t.strictSame(JSON.parse(textOf(called)), { did: 'a' });
    t.match(bed.calls, [{ tool: 'test.read', call: { caller: { subject: 'usr_ann', tenant: 'red' } } }]);
    t.match(bed.acts, [{ action: 'tool.call', target: 'test.read', outcome: 'done', actor: 'user:usr_ann' }]);
    await t.rejects(client.callTool({ name: 'test_write', arguments: {} }), /no tool/);
    t.match(await client.callTool({ name: 'test_read', arguments: { text: 1 } }), { isError: true });
    t.match(await client.callTool({ name: 'test_refuse', arguments: {} }), { isError: true });

    const { resources, nextCursor } = await client.listResources();
    t.match([resources[0]?.uri, resources.at(-1)?.uri], ['svc://documents/handbook/doc_1', 'svc://documents/legal/doc_2']);
    t.equal(nextCursor, undefined);
    t.match(await client.readResource({ uri: 'svc://documents/handbook/doc_1' }), {
      contents: [{ text: 'Text of handbook/doc_1' }],
    });
    await t.rejects(client.readResource({ uri: 'svc://documents/secret/doc_1' }), /not found/i);
    await t.rejects(client.readResource({ uri: 'file:///etc/passwd' }), /not found/i);

    t.match(await client.listPrompts(), { prompts: [{ name: 'p1', title: 'Greeting' }] });
    t.match(await client.getPrompt({ name: 'p1' }), { messages: [{ role: 'user', content: { text: 'Say hello' } }] });
    await t.rejects(client.getPrompt({ name: 'p2' }), /no prompt/);
  });

  t.test(`${revision}: a credential sees what its scopes are for`, async (t) => {
    const bed = await openEdge(t);
    const { client } = await connect(t, bed, callerOf('usr_ann', 'viewer', { kind: 'key', scopes: ['tools:use'] }), mode);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    t.ok(names.includes('web_fetch'));
    t.notOk(
      names.some((name) => name.startsWith('test_')),
      'those need knowledge:read',
    );
    t.strictSame((await client.listResources()).resources, []);
    t.strictSame((await client.listPrompts()).prompts, []);
    await t.rejects(client.callTool({ name: 'test_read', arguments: {} }), /no tool/);
  });

  t.test(`${revision}: a call that asks is decided by elicitation, with its whole arguments, and runs once`, async (t) => {
    const bed = await openEdge(t);
    await bed.setPolicy(admin, asks);
    const shown: string[] = [];
    let answer: object = { action: 'accept', content: { approve: true } };
    const { client } = await connect(t, bed, ann, mode, (message) => {
      shown.push(message);
      return answer;
    });
    t.match(await client.callTool({ name: 'test_write', arguments: { text: 'a' } }), { structuredContent: { did: 'a' } });
    t.match(shown, [/test\.write.*"text": "a"/s]);
    t.equal(bed.calls.length, 1);
    t.match(
      bed.acts.map(({ action, outcome }) => [action, outcome]),
      [
        ['tool.call', 'denied'],
        ['tool.call', 'denied'],
        ['tool.approval', 'done'],
        ['tool.call', 'done'],
      ],
    );
    for (answer of [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { approve: false } }])
      t.match(textOf(await client.callTool({ name: 'test_write', arguments: { text: 'b' } })), /tool_call_denied/);
    t.match(
      textOf(await client.callTool({ name: 'test_destroy', arguments: {} })),
      /approval_required.*apr_/,
      'an administrator decides',
    );
    t.equal(shown.length, 4, 'and the person is not asked');
    t.equal(bed.calls.length, 1);
  });

  t.test(
    `${revision}: without elicitation, or the scope to decide, the approval is named, and serves the next call`,
    async (t) => {
      const bed = await openEdge(t);
      await bed.setPolicy(admin, asks);
      const forTools = callerOf('usr_ann', 'viewer', { kind: 'key', keyId: 'key_1', scopes: ['tools:use', 'knowledge:read'] });
      for (const [as, elicits] of [
        [ann, false],
        [forTools, true],
      ] as const) {
        const before = bed.calls.length;
        const never = () => t.fail('an agent decides about no call of its own') as never;
        const { client } = await connect(t, bed, as, mode, elicits ? never : undefined);
        const call = () => client.callTool({ name: 'test_write', arguments: { text: 'a' } });
        const asked = await call();
        t.match(asked, { isError: true });
        const id = /apr_[\w-]+/.exec(textOf(asked))?.[0] ?? '';
        t.match(textOf(asked), `https://ai.example/api/v1/security/approvals/${id}`);
        await bed.decide(ann, id, { decision: 'approve' });
        t.match(await call(), { structuredContent: { did: 'a' } });
        t.match(await call(), { isError: true }, 'it serves once');
        t.equal(bed.calls.length, before + 1);
      }
    },
  );
}

t.test('a session belongs to the credential that began it, ends, and is unknown to all others', async (t) => {
  const bed = await openEdge(t);
  const { client, transport } = await connect(t, bed, ann, 'legacy');
  const ping = (as: Principal, session: string) =>
    bed.send('POST', '/mcp', {
      headers: {
        'x-as': JSON.stringify(as),
        accept: 'application/json, text/event-stream',
        'mcp-session-id': session,
        'mcp-protocol-version': '2025-11-25',
      },
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    });
  const id = transport.sessionId ?? '';
  t.equal((await ping(ann, id)).status, 200);
  const others = [callerOf('usr_bob', 'admin'), { ...ann, keyId: 'key_2', kind: 'key' as const }, { ...ann, tenant: 'blue' }];
  for (const other of others) {
    const [foreign, unknown] = [await ping(other, id), await ping(other, 'ffffffff-ffff-4fff-8fff-ffffffffffff')];
    t.equal(foreign.status, 404);
    t.equal(foreign.text, unknown.text);
  }
  await transport.terminateSession();
  t.equal((await ping(ann, id)).status, 404);
  await client.close();
});

t.test('what is no message of the protocol is refused in its words', async (t) => {
  const bed = await openEdge(t);
  const headers = { 'x-as': JSON.stringify(ann), accept: 'application/json, text/event-stream' };
  const broken = await bed.send('POST', '/mcp', {
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"jsonrpc"',
  });
  t.match(broken, { status: 400, body: { jsonrpc: '2.0', error: { code: -32_700 }, id: null } });
  t.match(await bed.send('POST', '/mcp', { headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } }), {
    status: 400,
    body: { error: 'mcp_session_missing' },
  });
  t.match(await bed.send('POST', '/mcp', { headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' }), {
    status: /4\d\d/,
  });
  t.equal((await bed.send('GET', '/mcp', { headers })).status, 400);
  t.match(await bed.send('GET', '/.well-known/oauth-protected-resource/mcp', { headers }), {
    status: 404,
    body: { error: 'no_token_provider' },
  });
});
