/**
 * Clients of the Model Context Protocol, unmodified, against `/mcp` of a node, and the conformance suite of the protocol in both roles.
 * SVC_CLIENTS_MODULES names the folder that their packages lie in; each case is a line of JSON in SVC_CLIENTS_RESULTS.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { serveFixture } from '../mcp-fixture/serve.ts';

const { SVC_CLIENTS_URL: url = '', SVC_CLIENTS_RESULTS: results = '', SVC_CLIENTS_MODULES: folder = '' } = process.env;
const only = process.env['SVC_CLIENTS_ONLY'] ?? '';
const run = promisify(execFile);
const { resolve } = createRequire(join(folder, 'package.json'));
// biome-ignore lint/suspicious/noExplicitAny: packages that this checkout does not have
const load = async (name: string): Promise<any> => await import(pathToFileURL(resolve(name)).href);
const mcp = `${url}/mcp`;

const REVISIONS = ['2025-11-25', '2026-07-28'];
const SUITE = join(folder, 'node_modules/@modelcontextprotocol/conformance');
const CLIENT = join(import.meta.dirname, '../mcp-fixture/conformance-client.ts');
const SUITE_MS = 600_000;

function record(client: string, name: string, failure: string | null): void {
  appendFileSync(results, `${JSON.stringify({ client, case: name, failure, pending: null })}\n`);
}

async function attempt(client: string, name: string, work: () => Promise<void>): Promise<void> {
  if (!`${client}: ${name}`.includes(only)) return;
  record(
    client,
    name,
    await work().then(
      () => null,
      (error: Error) => String(error.message).slice(0, 500),
    ),
  );
}

/** Those that the revision asks for, without those that are run and not scored. */
function requiredOf(revision: string, role: 'server' | 'client'): string[] {
  const text = readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8');
  const [, list = ''] = new RegExp(`^${role}:\\n((?:  - .*\\n)*)`, 'm').exec(text) ?? [];
  if (list === '') throw new Error(`${revision} names no scenarios of a ${role}`);
  return list
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice('  - '.length));
}

/** Returns what the suite prints: it ends with a line for each scenario, or with the count of what failed of the one that was named. */
async function suite(role: 'server' | 'client', args: readonly string[]): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
  const options = { cwd, timeout: SUITE_MS, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } };
  const program = [join(SUITE, 'dist/index.js'), role, ...args];
  const said = await run(process.execPath, program, options).catch((failed: { stdout?: string; stderr?: string }) => failed);
  rmSync(cwd, { recursive: true, force: true });
  return `${said.stdout ?? ''}\n${said.stderr ?? ''}`;
}

async function serverConformance(revision: string, url: string): Promise<void> {
  const who = `conformance suite, server, ${revision}`;
  if (!who.includes(only) && only !== '') return;
  const said = await suite('server', ['--url', url, '--requirements', revision]);
  for (const scenario of requiredOf(revision, 'server')) {
    const line = said.split('\n').find((each) => /^[✓✗]/.test(each) && each.includes(` ${scenario}: `));
    const isPassed = line?.startsWith('✓') === true;
    record(who, scenario, isPassed ? null : (line ?? 'the suite did not come to it'));
  }
}

/** One after the other: the suite would start a process for each at once, and end those that a busy machine does not come to. */
async function clientConformance(revision: string): Promise<void> {
  const who = `conformance suite, client, ${revision}`;
  if (!who.includes(only) && only !== '') return;
  const command = ['--command', `${process.execPath} ${CLIENT}`, '--timeout', '120000'];
  for (const scenario of requiredOf(revision, 'client')) {
    const said = await suite('client', [...command, '--scenario', scenario, '--spec-version', revision]);
    const [line, nPassed = '0', nFailed = '1'] = /Passed: (\d+)\/\d+, (\d+) failed/.exec(said) ?? [];
    const isPassed = Number(nPassed) > 0 && Number(nFailed) === 0;
    record(who, scenario, isPassed ? null : (line ?? 'the suite did not come to it'));
  }
}

const served = await serveFixture();
for (const revision of REVISIONS) {
  await serverConformance(revision, served.url);
  await clientConformance(revision);
}
await served.stop();

await attempt('MCP SDK 1', 'lists and calls tools', async () => {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    load('@modelcontextprotocol/sdk/client/index.js'),
    load('@modelcontextprotocol/sdk/client/streamableHttp.js'),
  ]);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
  const { tools } = await client.listTools();
  assert.ok(tools.some(({ name }: { name: string }) => name === 'knowledge_search'));
  const { isError, content } = await client.callTool({ name: 'knowledge_search', arguments: { query: 'opening hours' } });
  assert.notEqual(isError, true, JSON.stringify(content));
  assert.ok(Array.isArray(JSON.parse(content[0].text).passages));
  const refused = await client.callTool({ name: 'knowledge_search', arguments: { query: 1 } });
  assert.equal(refused.isError, true);
  await client.listResources();
  await client.listPrompts();
  await client.close();
});

await attempt('AI SDK, MCP', 'takes the tools of a node', async () => {
  const { createMCPClient, experimental_createMCPClient: older } = await load('@ai-sdk/mcp');
  const client = await (createMCPClient ?? older)({ transport: { type: 'http', url: mcp } });
  const tools = await client.tools();
  const answer = await tools.knowledge_search.execute({ query: 'opening hours' }, { toolCallId: '1', messages: [] });
  assert.match(JSON.stringify(answer), /passages/);
  await client.close();
});

await attempt('LangChain MCP adapters', 'takes the tools of a node', async () => {
  const { MultiServerMCPClient } = await load('@langchain/mcp-adapters');
  const client = new MultiServerMCPClient({ mcpServers: { svc: { transport: 'http', url: mcp } } });
  const tools = (await client.getTools()) as { name: string; invoke(args: object): Promise<unknown> }[];
  const search = tools.find(({ name }) => name.endsWith('knowledge_search'));
  assert.match(JSON.stringify(await search?.invoke({ query: 'opening hours' })), /passages/);
  await client.close();
});

await attempt('MCP inspector', 'lists the tools from the command line', async () => {
  const bin = join(folder, 'node_modules/.bin/mcp-inspector');
  const { stdout } = await run(bin, ['--cli', mcp, '--transport', 'http', '--method', 'tools/list'], { timeout: 60_000 });
  const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
  assert.ok(tools.some(({ name }) => name === 'knowledge_search'));
});
process.exit(0);
