/**
 * The program that the conformance suite runs as the client under test: an MCP server registered, approved and signed in to as a tenant's is, and
 * each of its tools called. The suite names the scenario in the environment and the address in the last argument.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpServers } from '../../ts/server/domains/edge/mcp-servers/mcp-servers.ts';
import { McpTools } from '../../ts/server/domains/edge/mcp-servers/mcp-tools.ts';
import { withDefaults } from '../../ts/server/domains/edge/mcp-servers/server-questions.ts';
import { type EdgeTables, edgeMigrations } from '../../ts/server/domains/edge/tables.ts';
import { SealingKey } from '../../ts/server/platform/crypto/sealing-key.ts';
import { ANONYMOUS } from '../../ts/server/platform/http/principal.ts';
import { AddressPolicy } from '../../ts/server/platform/network/address-policy.ts';
import { HttpClient } from '../../ts/server/platform/network/http-client.ts';
import { createStorage } from '../../ts/server/platform/storage/index.ts';
import { runTool, type ToolQuestion } from '../../ts/server/platform/tools/tool.ts';

interface ScenarioContext {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as ScenarioContext;
const label = 'conformance';
const folder = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
const storage = createStorage({
  url: `sqlite:${join(folder, 'svc.db')}`,
  modules: [{ module: 'edge', migrations: edgeMigrations }],
});
const client = new HttpClient();
const allowsPlain = true;
const servers = new McpServers({
  storage: storage.access<EdgeTables>(),
  client,
  policy: new AddressPolicy({
    trusted: [],
    allowed: ['localhost', '127.0.0.1'].map((hostname) => ({ hostname, port: undefined, allowsPlain })),
  }),
  version: '1.0.0',
  publicUrl: 'https://svc.example',
  dataDir: folder,
  log: { warn: console.error },
  sealingKey: () => SealingKey.open(join(folder, 'sealing.key')),
  now: Date.now,
});
const tools = new McpTools(servers);

/** The browser of somebody who consents to everything. */
async function signIn(): Promise<void> {
  const start = await servers.startSignIn(ANONYMOUS, label);
  if (start === undefined) return;
  const { headers } = await fetch(start, { redirect: 'manual' });
  const back = new URL(headers.get('location') ?? '').searchParams;
  const iss = back.get('iss') ?? undefined;
  await servers.endSignIn(ANONYMOUS, label, { code: back.get('code') ?? '', state: back.get('state') ?? '', iss });
}

function argumentsFor(
  name: string,
  schema: { properties?: Record<string, { type?: string }>; required?: string[] },
): Record<string, unknown> {
  const given = context.toolCalls?.find((call) => call.name === name);
  if (given !== undefined) return given.arguments;
  const values = { number: 2, integer: 2, string: 'text', boolean: true } as Record<string, unknown>;
  return Object.fromEntries((schema.required ?? []).map((key) => [key, values[schema.properties?.[key]?.type ?? ''] ?? 'text']));
}

function agreeable(question: ToolQuestion): Record<string, unknown> {
  return { ...argumentsFor('', question.schema), ...withDefaults(question, {}) };
}

async function callAll(): Promise<void> {
  for (const { tool, isRunning } of await tools.list(ANONYMOUS)) {
    if (!isRunning) continue;
    const [, , name = ''] = tool.name.split('.');
    const given = argumentsFor(name, tool.input as never);
    // Somebody who takes whatever a server proposes, and consents to the rest.
    const ask = async (question: ToolQuestion) => ({ action: 'accept' as const, content: agreeable(question) });
    const about = { conversation: undefined, addresses: undefined, isOwnRoute: false, approved: undefined, ask };
    const call = { caller: ANONYMOUS, arguments: given, ...about };
    const run = () => runTool(tool, call, AbortSignal.timeout(20_000));
    await run().catch(async (error: { code?: string }) => {
      // A tool that fails is its server's matter, and the suite judges what was sent.
      if (error.code !== 'mcp_sign_in_needed') return void console.error(error);
      // The server wants more than was granted: the person signs in once more.
      await signIn();
      await run();
    });
  }
}

try {
  await storage.open();
  const { client_id, client_secret } = context;
  const auth = scenario.startsWith('auth/') ? { type: 'oauth' as const, client_id, client_secret } : { type: 'none' as const };
  await servers.add(ANONYMOUS, { label, url, auth });
  if (auth.type === 'oauth') await signIn();
  let shown = await servers.refresh(ANONYMOUS, label);
  if (shown.reason !== undefined && auth.type === 'oauth') {
    // The server trusts another provider by now: the person signs in there.
    await signIn();
    shown = await servers.refresh(ANONYMOUS, label);
  }
  if (shown.reason !== undefined) throw new Error(shown.reason);
  await servers.approve({ tenant: ANONYMOUS.tenant } as never, label, shown.row.seen_hash);
  await callAll();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await servers.close();
  await tools.close();
  await client.close();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
}
