/** `svc mcp`: MCP servers whose tools the node offers. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Answer } from '../../client/client.ts';
import { loadPlacedServers } from '../../server/domains/edge/index.ts';
import { usageError } from '../cli-error.ts';
import type { Invocation } from '../command.ts';
import { readConfig } from '../configuration.ts';
import type { ExitName } from '../exit-codes.ts';
import { type Columns, tableOf } from '../format.ts';
import { listCommand, requestCommand, serverCommand } from '../server-command.ts';

type Server = Answer<'POST /api/v1/tools/mcp-servers'>;

const label = { name: 'LABEL', help: 'of the server, as `svc mcp list` shows it' };

const columns: Columns<Server> = {
  LABEL: (one) => one.label,
  STATE: ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`),
  'SIGNED IN BY': ({ auth }) => auth.type,
  TOOLS: ({ definitions }) => definitions.filter(({ state }) => state !== 'removed').length,
  ADDRESS: ({ url }) => url,
};

const definitionColumns: Columns<Server['definitions'][number]> = {
  TOOL: ({ tool }) => tool,
  STATE: ({ state }) => state,
  DESCRIPTION: ({ description }) => description,
};

function shownServer(server: Server): string {
  const { hash, approved_hash: approved, label: name, definitions } = server;
  const waits = hash === null || hash === approved ? [] : [`to approve what it offers: svc mcp approve ${name} ${hash}`];
  return [tableOf(columns, [server]), tableOf(definitionColumns, definitions), ...waits].join('\n');
}

export const mcpList = listCommand({
  words: ['mcp', 'list'],
  summary: 'List the MCP servers of the tenant',
  examples: ['svc mcp list'],
  route: 'GET /api/v1/tools/mcp-servers',
  columns,
  empty: 'no MCP servers; see `svc help mcp add`',
});

export const mcpAdd = serverCommand({
  words: ['mcp', 'add'],
  summary: 'Register an MCP server; nothing of it is called until its tools are approved',
  positionals: [
    { name: 'LABEL', help: 'part of the names of its tools: mcp.LABEL.TOOL' },
    { name: 'URL', help: 'address of its Streamable HTTP endpoint', optional: true },
  ],
  options: {
    oauth: { kind: 'flag', help: 'each person signs in there' },
    // A token is never an argument: the list of processes shows those to everybody.
    'token-file': { kind: 'text', value: 'FILE', help: 'a file that holds the token for all' },
    tool: { kind: 'texts', value: 'NAME', help: 'offer only this tool of it; may be repeated' },
    command: {
      kind: 'text',
      value: 'LINE',
      help: 'a program of this machine in place of an address; it runs confined, as the node’s user',
    },
    read: { kind: 'texts', value: 'PATH', help: 'what the program may read beside its libraries; may be repeated' },
    write: { kind: 'texts', value: 'FOLDER', help: 'where the program may change files; may be repeated' },
    network: { kind: 'flag', help: 'the program may use the network' },
    tenant: { kind: 'text', value: 'ID', help: 'whose tools those of the program are (default: default)' },
  },
  examples: [
    'svc mcp add docs https://mcp.example/mcp --token-file ./token',
    "svc mcp add files --command 'node /opt/files-server/index.js /srv/docs' --read /opt/files-server --write /srv/docs",
  ],
  async run(invocation) {
    const { positionals, options, terminal } = invocation;
    const [name = '', url] = positionals;
    if ((url === undefined) === (options.command === undefined))
      throw usageError('an MCP server has an address, or a program of this machine', 'give URL or --command');
    if (url === undefined) return await place(invocation, options, name, options.command ?? '');
    const { 'token-file': file, oauth, tool = [] } = options;
    const auth =
      file !== undefined
        ? ({ type: 'bearer', token: readFileSync(file, 'utf8').trim() } as const)
        : ({ type: oauth === true ? 'oauth' : 'none' } as const);
    const body = { label: name, url, auth, ...(tool.length > 0 && { tools: [...tool] }) };
    const server = await invocation.client.call('POST /api/v1/tools/mcp-servers', { body });
    terminal.result(server, shownServer(server));
    return 'ok';
  },
});

interface PlacedOptions {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly network?: boolean;
  readonly tenant?: string;
}

/** Writes a file of data_dir: a running node sees it with its next request. */
async function place(invocation: Invocation, options: PlacedOptions, label: string, line: string): Promise<ExitName> {
  const { PLACED_FILE, placeServer, programLine } = await loadPlacedServers();
  if (!/^[a-z][a-z0-9_]{0,31}$/.test(label)) throw usageError(`${label} is no label`, 'write small letters, digits and _');
  const { network = false, tenant = 'default' } = options;
  const [read, write] = [options.read ?? [], options.write ?? []].map((paths) => paths.map((path) => resolve(path)));
  const missing = [...(read ?? []), ...(write ?? [])].find((path) => !existsSync(path));
  if (missing !== undefined) throw usageError(`${missing} is not there`, 'name files and folders that are');
  const server = { tenant, label, command: commandOf(programLine, line), read: read ?? [], write: write ?? [], network };
  await placeServer(join(readConfig(invocation).values.data_dir, PLACED_FILE), server, server);
  invocation.terminal.result(server, `${label} is placed; look at what it offers: svc mcp refresh ${label}`);
  return 'ok';
}

function commandOf(programLine: (line: string) => string[], line: string): string[] {
  try {
    return programLine(line);
  } catch (error) {
    throw usageError((error as Error).message, 'write the absolute path of a program, or node and the path of a script');
  }
}

export const mcpRefresh = requestCommand({
  words: ['mcp', 'refresh'],
  summary: 'Ask an MCP server what it offers, and show it beside what was approved',
  positionals: [label],
  examples: ['svc mcp refresh docs'],
  route: 'PATCH /api/v1/tools/mcp-servers/{label}',
  given: ({ positionals: [name = ''] }) => ({ params: { label: name }, body: {} }),
  text: shownServer,
});

export const mcpApprove = requestCommand({
  words: ['mcp', 'approve'],
  summary: 'Approve the tools of an MCP server as they were shown',
  positionals: [label, { name: 'HASH', help: 'of what was shown' }],
  examples: [`svc mcp approve docs ${'0'.repeat(64)}`],
  route: 'POST /api/v1/tools/mcp-servers/{label}/approve',
  given: ({ positionals: [name = '', hash = ''] }) => ({ params: { label: name }, body: { hash } }),
  text: shownServer,
});

const switched = (word: 'enable' | 'disable', summary: string) =>
  requestCommand({
    words: ['mcp', word],
    summary,
    positionals: [label],
    examples: [`svc mcp ${word} docs`],
    route: 'PATCH /api/v1/tools/mcp-servers/{label}',
    given: ({ positionals: [name = ''] }) => ({ params: { label: name }, body: { enabled: word === 'enable' } }),
    text: shownServer,
  });

export const mcpEnable = switched('enable', 'Offer the tools of an MCP server again');
export const mcpDisable = switched('disable', 'Offer no tools of an MCP server');

export const mcpRemove = serverCommand({
  words: ['mcp', 'rm'],
  summary: 'Remove an MCP server, with what people were signed in with',
  positionals: [label],
  options: {
    placed: { kind: 'flag', help: 'one that was placed on this machine with --command' },
    tenant: { kind: 'text', value: 'ID', help: 'whose tools those of the program are (default: default)' },
  },
  examples: ['svc mcp rm docs', 'svc mcp rm files --placed'],
  async run(invocation) {
    const { positionals, options, terminal } = invocation;
    const [name = ''] = positionals;
    const { placed = false, tenant = 'default' } = options;
    if (placed) {
      const { PLACED_FILE, placeServer } = await loadPlacedServers();
      const wasThere = await placeServer(join(readConfig(invocation).values.data_dir, PLACED_FILE), { tenant, label: name });
      if (!wasThere)
        throw usageError(`no program ${name} of the tenant ${tenant} is placed here`, 'give its label, and --tenant');
    } else await invocation.client.call('DELETE /api/v1/tools/mcp-servers/{label}', { params: { label: name } });
    terminal.result({ label: name }, 'removed');
    return 'ok';
  },
});

export const mcpSignIn = requestCommand({
  words: ['mcp', 'sign-in'],
  summary: 'Show where the account in SVC_API_KEY signs in to an MCP server',
  positionals: [label],
  examples: ['svc mcp sign-in docs'],
  route: 'GET /api/v1/tools/mcp-servers/{label}/oauth/start',
  given: ({ positionals: [name = ''] }) => ({ params: { label: name } }),
  text: ({ authorization_url: url }) => url ?? 'you are signed in',
});
