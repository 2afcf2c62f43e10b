/** `svc mcp`: MCP servers whose tools the node offers. */
import { readFileSync } from 'node:fs';
import type { Answer } from '../../client/client.ts';
import { type Columns, tableOf } from '../format.ts';
import { listCommand, requestCommand } from '../server-command.ts';

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

export const mcpAdd = requestCommand({
  words: ['mcp', 'add'],
  summary: 'Register an MCP server; nothing of it is called until its tools are approved',
  positionals: [
    { name: 'LABEL', help: 'part of the names of its tools: mcp.LABEL.TOOL' },
    { name: 'URL', help: 'address of its Streamable HTTP endpoint' },
  ],
  options: {
    oauth: { kind: 'flag', help: 'each person signs in there' },
    // A token is never an argument: the list of processes shows those to everybody.
    'token-file': { kind: 'text', value: 'FILE', help: 'a file that holds the token for all' },
    tool: { kind: 'texts', value: 'NAME', help: 'offer only this tool of it; may be repeated' },
  },
  examples: ['svc mcp add docs https://mcp.example/mcp --token-file ./token'],
  route: 'POST /api/v1/tools/mcp-servers',
  given: ({ positionals: [name = '', url = ''], options: { oauth, 'token-file': file, tool } }) => ({
    body: {
      label: name,
      url,
      auth:
        file !== undefined
          ? { type: 'bearer', token: readFileSync(file, 'utf8').trim() }
          : { type: oauth === true ? 'oauth' : 'none' },
      ...(tool !== undefined && tool.length > 0 && { tools: [...tool] }),
    },
  }),
  text: shownServer,
});

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

export const mcpRemove = requestCommand({
  words: ['mcp', 'rm'],
  summary: 'Remove an MCP server, with what people were signed in with',
  positionals: [label],
  examples: ['svc mcp rm docs'],
  route: 'DELETE /api/v1/tools/mcp-servers/{label}',
  given: ({ positionals: [name = ''] }) => ({ params: { label: name } }),
  text: () => 'removed',
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
