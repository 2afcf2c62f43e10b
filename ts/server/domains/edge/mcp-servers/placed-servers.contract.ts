/** MCP servers that are programs of this machine, on both databases. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Test } from 'tap';
import { newFolder } from '../../../platform/files/test-support/new-folder.ts';
import { HttpClient } from '../../../platform/network/http-client.ts';
import { type NewDatabase, newUrl, onEachDatabase } from '../../../platform/storage/test-support/each-database.ts';
import { hashOf } from '../../../platform/tools/tool.ts';
import { callerOf, openEdge } from '../test-support/edge-bed.ts';
import { McpConnections } from './mcp-connections.ts';
import type { PlacedServer } from './placed-servers.ts';

const PATH = '/api/v1/tools/mcp-servers';
const ann = callerOf('usr_ann', 'viewer');
const admin = callerOf('usr_admin', 'admin');
const eve = callerOf('usr_eve', 'admin', { tenant: 'blue' });
const skip = process.platform === 'linux' ? false : 'only Linux confines programs';

/** A program as somebody else wrote it, without anything of this repository: it tells its process id, and writes where it is told to. */
const PROGRAM = `
const fs = require('node:fs');
const tool = (name, properties) => ({ name, description: 'Does something.', inputSchema: { type: 'object', properties } });
const tools = [tool('id', {}), tool('touch', { path: { type: 'string' } })];
const calls = {
  id: () => String(process.pid),
  touch: ({ path }) => {
    try {
      fs.writeFileSync(path, 'x');
      return 'written';
    } catch (error) {
      return error.code;
    }
  },
};
const answers = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'files', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name, arguments: given }) => ({ content: [{ type: 'text', text: calls[name](given) }] }),
};
// What is said beside the messages may be anything.
process.stderr.write('starting' + 'x'.repeat(100_000));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = answers[method]?.(params);
  const answer = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result };
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});
// It stays whatever becomes of whoever started it.
setInterval(() => {}, 1_000);
`;

interface Folders {
  readonly program: string;
  readonly docs: string;
}

function newFolders(t: Test): Folders {
  const root = newFolder(t);
  const folders = { program: join(root, 'program'), docs: join(root, 'docs') };
  for (const folder of Object.values(folders)) mkdirSync(folder);
  writeFileSync(join(folders.program, 'index.cjs'), PROGRAM);
  return folders;
}

function serverOf({ program, docs }: Folders): PlacedServer {
  const command = [process.execPath, join(program, 'index.cjs')];
  return { tenant: 'red', label: 'files', command, read: [program], write: [docs], network: false };
}

async function openPlaced(t: Test, databaseUrl: string) {
  const bed = await openEdge(t, { databaseUrl, settings: { 'mcp.allowed_hosts': 'http://127.0.0.1' } });
  const place = (...servers: PlacedServer[]) => writeFileSync(join(bed.dataDir, 'mcp-servers.json'), JSON.stringify(servers));
  const call = async (tool: string, given: object = {}) =>
    (await bed.execute(ann, `mcp.files.${tool}`, { arguments: given })).body.result;
  const refresh = async () => (await bed.ask('PATCH', `${PATH}/files`, admin, {})).body;
  const approve = async () => bed.ask('POST', `${PATH}/files/approve`, admin, { hash: (await refresh()).hash });
  const listed = async (as = ann): Promise<string[]> => {
    const { data } = (await bed.ask('GET', '/api/v1/agent/tools', as)).body as { data: { name: string; state: string }[] };
    return data.filter(({ name }) => name.startsWith('mcp.')).map(({ name, state }) => `${name} ${state}`);
  };
  return { bed, place, call, refresh, approve, listed };
}

/** Polls, since no process is told that another one ended. */
async function ended(pid: string): Promise<void> {
  for (;;) {
    try {
      process.kill(Number(pid), 0);
    } catch {
      return;
    }
    await delay(50);
  }
}

function testPlacedServers(t: Test, newDatabase: NewDatabase): void {
  t.test('a program of this machine is confined, approved as others are, and ends with its entry', { skip }, async (t) => {
    const { bed, place, call, refresh, approve, listed } = await openPlaced(t, await newUrl(t, newDatabase));
    const folders = newFolders(t);
    const server = serverOf(folders);
    place(server);
    t.match(await refresh(), { state: 'changed', reason: null, url: /^stdio:/, definitions: [{ tool: 'mcp.files.id' }, {}] });
    t.match(await bed.execute(ann, 'mcp.files.id'), { status: 503 }, 'nobody has seen what it offers');
    await approve();
    t.equal(await call('touch', { path: join(folders.docs, 'a') }), 'written');
    for (const path of [join(folders.program, 'index.cjs'), join(bed.dataDir, 'svc.db'), '/tmp/x', '/etc/passwd'])
      t.match(await call('touch', { path }), /^(EACCES|EPERM)$/, path);
    t.strictSame(await listed(eve), [], 'it is one tenant’s');
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { url: 'https://mcp.example/mcp' }],
      ['PATCH', { auth: { type: 'none' } }],
    ] as const)
      t.match((await bed.ask(method, `${PATH}/files`, admin, body)).body, { error: 'invalid_request', detail: /operator/ });
    const pid = await call('id');
    place({ ...server, write: [] });
    t.match(await listed(), [], 'another program is another server');
    t.equal((await bed.execute(ann, 'mcp.files.id')).status, 404);
    await ended(pid);
    await approve();
    t.equal(await call('touch', { path: join(folders.docs, 'b') }), 'EACCES');
    const second = await call('id');
    place();
    // Nobody asks for it any more, and it ends all the same.
    await ended(second);
    t.strictSame((await bed.ask('GET', PATH, admin)).body.data, []);
  });

  t.test('it ends with the node', { skip }, async (t) => {
    const { bed, place, call, approve } = await openPlaced(t, await newUrl(t, newDatabase));
    place(serverOf(newFolders(t)));
    await approve();
    const pid = await call('id');
    await bed.stop();
    await ended(pid);
    t.pass('it is gone');
  });

  t.test('a node of the cluster that does not have the program leaves what was approved as it is', { skip }, async (t) => {
    const url = await newUrl(t, newDatabase);
    const [one, other] = [await openPlaced(t, url), await openPlaced(t, url)];
    one.place(serverOf(newFolders(t)));
    await one.approve();
    t.strictSame(await other.listed(), []);
    t.equal((await other.bed.execute(ann, 'mcp.files.id')).status, 404);
    t.strictSame(await one.listed(), ['mcp.files.id ready', 'mcp.files.touch ready']);
  });

  t.test('a file that cannot be read places nothing, and the node goes on', async (t) => {
    const { bed, listed } = await openPlaced(t, await newUrl(t, newDatabase));
    for (const text of [
      '{',
      '[{"label": "files"}]',
      '[{"tenant": "red", "label": "a", "command": ["sh"], "read": [], "write": [], "network": 1}]',
    ])
      for (const _again of [1, 2]) {
        writeFileSync(join(bed.dataDir, 'mcp-servers.json'), text);
        t.strictSame(await listed(), []);
      }
    t.match(bed.log.join(), 'no MCP server that is placed on this machine runs');
    t.equal((await bed.execute(ann, 'test.read')).status, 200);
  });

  t.test('no request names a program', async (t) => {
    const { bed } = await openPlaced(t, await newUrl(t, newDatabase));
    for (const body of [
      { label: 'a', url: 'stdio:/bin/sh' },
      { label: 'a', command: '/bin/sh' },
      { label: 'a', url: 'file:///bin/sh' },
    ])
      t.equal((await bed.ask('POST', PATH, admin, body)).status, 400);
  });

  t.test('a program that nobody uses ends', { skip }, async (t) => {
    const client = new HttpClient();
    const connections = new McpConnections({ client, version: '1', now: Date.now, idleMs: 100 });
    t.teardown(async () => {
      await connections.close();
      await client.close();
    });
    const place = serverOf(newFolders(t));
    const target = { key: 'red files', label: 'files', place, authProvider: undefined, onSeen: async () => undefined };
    const [id] = await connections.refresh(target);
    const call = { name: 'id', arguments: {}, hash: hashOf(id), ask: undefined, signal: AbortSignal.timeout(10_000) };
    const [block] = (await connections.call(target, call)).content;
    const pid = block?.type === 'text' ? block.text : '';
    await ended(pid);
    t.pass('it is gone');
  });
}

onEachDatabase(testPlacedServers, { timeoutMs: 120_000 });
