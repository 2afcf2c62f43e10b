/**
 * The tools of the node in Anthropic's words: the server tool `web_search`, and all others, which the header X-Svc-Edge-Tools lets run, as the
 * blocks of MCP servers. A member that cannot be followed is refused by its name. Source: Anthropic API reference, "Web search tool", "MCP connector".
 */
import { wireName } from '../../../../platform/tools/tool.ts';
import { invalid } from '../../errors.ts';
import type { HostedTools } from '../../tools/answer-tools.ts';
import type { ToolEvent } from '../../tools/tool-event.ts';
import { asInteger, isMembers, type Members } from '../members.ts';

/** The server tool `web_search` of a request. */
export interface SearchTool {
  readonly param: string;
  readonly mostUses: number | undefined;
}

type Block = Record<string, unknown>;

const SEARCH = 'web.search';
const SEARCH_NAME = 'web_search';
const SEARCH_TYPE = 'web_search_20250305';
/** The name of the server in blocks of tools that the node itself has. */
const THIS_NODE = 'svc';
const MOST_USES = 1_024;

export function isSearchTool(tool: unknown): boolean {
  return isMembers(tool) && tool['type'] === SEARCH_TYPE;
}

export function readSearchTool(tool: Members, param: string): SearchTool {
  const { type: _type, name, max_uses: mostUses, cache_control: _mark, ...others } = tool;
  if (name !== SEARCH_NAME) throw invalid(`${param}.name`, `${param}.name must be ${SEARCH_NAME}.`);
  const unfollowed = Object.entries(others).find(([, value]) => value !== null && value !== undefined && !isEmptyList(value));
  if (unfollowed !== undefined)
    throw invalid(
      `${param}.${unfollowed[0]}`,
      `${param}.${unfollowed[0]} cannot be followed: the search provider of the node is asked for the query alone.`,
    );
  const uses = mostUses === undefined || mostUses === null ? undefined : asInteger(mostUses, `${param}.max_uses`, 1, MOST_USES);
  return { param, mostUses: uses };
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** @param allowsOthers the client lets all its tools of the node run. */
export function searchTools({ param, mostUses }: SearchTool, isForced: boolean, allowsOthers: boolean): HostedTools {
  return {
    isOnly: !allowsOthers,
    isForced,
    mostCalls: mostUses,
    choose: (tools) => {
      const found = tools.find(({ name }) => name === SEARCH);
      if (found === undefined)
        throw invalid(`${param}.type`, `${param}.type is web search, which you cannot use: GET /api/v1/agent/tools says why.`);
      return { offered: [found], listings: [] };
    },
  };
}

/** The blocks of a call, and of what came of it: undefined while it runs. */
export interface CallBlocks {
  readonly use: Block;
  readonly input: unknown;
  readonly result: Block | undefined;
}

/** @param id of the call's block. */
export function callBlocks(event: ToolEvent, id: string): CallBlocks {
  const { tool, arguments: input } = event;
  const hasEnded = event.state === 'done' || event.state === 'failed' || event.state === 'denied';
  if (tool === SEARCH) {
    const use = { type: 'server_tool_use', id, name: SEARCH_NAME, input, caller: { type: 'direct' } };
    return { use, input, result: hasEnded ? searchResult(event, id) : undefined };
  }
  const [, label = THIS_NODE, name = wireName(tool)] = /^mcp\.([a-z0-9_]+)\.(.+)$/.exec(tool) ?? [];
  return {
    use: { type: 'mcp_tool_use', id, name, server_name: label, input },
    input,
    result: hasEnded ? result(event, id) : undefined,
  };
}

export function blockId({ tool, call_id: call }: ToolEvent): string {
  return `${tool === SEARCH ? 'srvtoolu' : 'mcptoolu'}_${call.replace(/\W/g, '').slice(0, 64)}`;
}

function result({ state, result: value }: ToolEvent, id: string): Block {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return {
    type: 'mcp_tool_result',
    tool_use_id: id,
    is_error: state !== 'done',
    content: [{ type: 'text', text, citations: null }],
  };
}

function searchResult({ state, result: value }: ToolEvent, id: string): Block {
  const members = isMembers(value) ? value : {};
  const content =
    state === 'done' ? pagesOf(members) : { type: 'web_search_tool_result_error', error_code: errorCode(members['error']) };
  return { type: 'web_search_tool_result', tool_use_id: id, caller: { type: 'direct' }, content };
}

/** The member that a provider encrypts has here what was found, so that a later request brings it back. */
function pagesOf({ results }: Members): Block[] {
  const pages = Array.isArray(results) ? (results as unknown[]).filter(isMembers) : [];
  return pages.map((page) => ({
    type: 'web_search_result',
    url: String(page['url'] ?? ''),
    title: String(page['title'] ?? ''),
    encrypted_content: Buffer.from(JSON.stringify(page)).toString('base64'),
    page_age: null,
  }));
}

function errorCode(code: unknown): string {
  if (code === 'budget_exceeded') return 'max_uses_exceeded';
  return code === 'invalid_request' ? 'invalid_tool_input' : 'unavailable';
}

/** The name that the model calls the tool of an earlier block by. */
export function earlierName(block: Members): string {
  const name = String(block['name'] ?? '');
  const server = block['server_name'];
  return block['type'] === 'server_tool_use' || server === THIS_NODE ? name : wireName(`mcp.${String(server ?? '')}.${name}`);
}

/** Reads an earlier result as the model gets it. */
export function earlierResult(block: Members): unknown {
  const content = block['content'];
  if (!Array.isArray(content)) return content ?? null;
  return content.filter(isMembers).map((part) => {
    if (part['type'] !== 'web_search_result') return part['text'] ?? null;
    return decoded(part['encrypted_content']) ?? { title: part['title'], url: part['url'] };
  });
}

/** Undefined: another server made it. */
function decoded(content: unknown): unknown {
  if (typeof content !== 'string') return undefined;
  try {
    return JSON.parse(Buffer.from(content, 'base64').toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** Anthropic's `usage.server_tool_use`; null: nothing was searched. */
export function serverToolUse(events: readonly Pick<ToolEvent, 'tool'>[]): Block | null {
  const n = events.filter(({ tool }) => tool === SEARCH).length;
  return n === 0 ? null : { web_search_requests: n, web_fetch_requests: 0 };
}
