/**
 * The tools of the node that a request names in OpenAI's words: `web_search`, and `mcp` with a server that is registered here. A member that cannot
 * be followed is refused by its name. Source: OpenAI API reference, Responses.
 */
import type { Tool } from '../../../../../platform/tools/tool.ts';
import type { UsableMcpServer } from '../../../../edge/index.ts';
import { invalid } from '../../../errors.ts';
import type { CallDecision, HostedChoice, HostedTools, McpListing } from '../../../tools/answer-tools.ts';
import { asList, asMembers, asText, isMembers, type Members, textOr } from '../../members.ts';
import type { ResponsesRequest } from '../schema.ts';

/** The members of an `mcp` tool. */
interface NamedServer {
  readonly param: string;
  readonly label: string;
  readonly url: string | undefined;
  /** Undefined: all. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** Whether the client wants to decide about each call of the tool. */
  asks(name: string): boolean;
}

interface NamedTools {
  /** The place of `web_search`; undefined: it is not there. */
  readonly search: string | undefined;
  readonly servers: readonly NamedServer[];
}

/** The tools that may be called, by `tool_choice`. */
interface ToolChoice {
  readonly isForced: boolean;
  admits(tool: Tool): boolean;
}

export interface McpToolName {
  readonly label: string;
  readonly name: string;
}

export const SEARCH_TOOL = 'web.search';
const SEARCH_TYPES: ReadonlySet<unknown> = new Set(['web_search', 'web_search_2025_08_26', 'web_search_preview']);

export function isWebSearch(tool: unknown): boolean {
  return isMembers(tool) && SEARCH_TYPES.has(tool['type']);
}

/** Whether the node itself runs the tool for the model. */
export function isHosted(tool: unknown): boolean {
  return isWebSearch(tool) || (isMembers(tool) && tool['type'] === 'mcp');
}

/** Undefined: it is no tool of an MCP server. */
export function mcpNameOf(tool: string): McpToolName | undefined {
  const [, label, name] = /^mcp\.([a-z0-9_]+)\.(.+)$/.exec(tool) ?? [];
  return label === undefined || name === undefined ? undefined : { label, name };
}

export function mcpToolName({ label, name }: McpToolName): string {
  return `mcp.${label}.${name}`;
}

/** Undefined: the request names none. Throws CompletionError. @param items the input, and what it continues. */
export function readHosted(body: ResponsesRequest, items: readonly Members[]): HostedTools | undefined {
  const named = readNamed(body.tools ?? []);
  if (named === undefined) return undefined;
  const choice = readChoice(body.tool_choice, named);
  const listed = new Set(items.flatMap(({ type, server_label: label }) => (type === 'mcp_list_tools' ? [label] : [])));
  const asking = new Map(named.servers.map((server) => [server.label, server]));
  return {
    isOnly: true,
    isForced: choice.isForced,
    choose: (tools, servers) => chosen(named, choice, listed, tools, servers),
    asks: ({ name }) => {
      const found = mcpNameOf(name);
      return found !== undefined && asking.get(found.label)?.asks(found.name) === true;
    },
    suspends: ({ name }) => mcpNameOf(name) !== undefined,
    mostCalls: body.max_tool_calls ?? undefined,
    isTainted: items.some(({ type }) => type === 'web_search_call'),
  };
}

function readNamed(tools: readonly unknown[]): NamedTools | undefined {
  let search: string | undefined;
  const servers: NamedServer[] = [];
  for (const [i, tool] of tools.entries()) {
    const param = `tools[${i}]`;
    if (!isHosted(tool)) continue;
    if (isWebSearch(tool)) {
      if (search !== undefined) throw invalid(param, `${param}: web_search stands once in tools.`);
      readSearch(tool as Members, param);
      search = param;
    } else servers.push(readServer(tool as Members, param));
  }
  const twice = servers.find(({ label }, i) => servers.findIndex((each) => each.label === label) < i);
  if (twice !== undefined) throw invalid(twice.param, `${twice.param}: tools names the MCP server ${twice.label} twice.`);
  return search === undefined && servers.length === 0 ? undefined : { search, servers };
}

/** The refusal of each member that is there and cannot be followed. */
function refuseMembers(
  tool: Members,
  param: string,
  known: Readonly<Record<string, (value: unknown) => string | undefined>>,
): void {
  for (const [name, value] of Object.entries(tool)) {
    if (value === null || value === undefined) continue;
    const reason = Object.hasOwn(known, name) ? known[name]?.(value) : 'is no member that is known here';
    if (reason !== undefined) throw invalid(`${param}.${name}`, `${param}.${name} ${reason}.`);
  }
}

const taken = (): undefined => undefined;

function readSearch(tool: Members, param: string): void {
  refuseMembers(tool, param, {
    type: taken,
    filters: (value) =>
      isMembers(value) && Object.values(value).every(isEmpty)
        ? undefined
        : 'cannot be followed: the search provider of the node knows no such filter',
    user_location: () => 'cannot be followed: nobody is told where the person is',
    search_context_size: (value) =>
      value === 'medium' ? undefined : 'must be medium: results are as long as their provider makes them',
    external_web_access: (value) => (value === true ? undefined : 'must be true: the node keeps no copy of the web'),
    search_content_types: (value) =>
      Array.isArray(value) && value.every((each) => each === 'text') ? undefined : 'must be ["text"]',
  });
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function readServer(tool: Members, param: string): NamedServer {
  const ofNode = 'is a matter of the node: an administrator registers the server with its credential (svc mcp add)';
  refuseMembers(tool, param, {
    type: taken,
    server_label: taken,
    server_url: taken,
    server_description: taken,
    allowed_tools: taken,
    require_approval: taken,
    headers: (value) => (isMembers(value) && Object.keys(value).length === 0 ? undefined : ofNode),
    authorization: () => ofNode,
    connector_id: () => ofNode,
    tunnel_id: () => ofNode,
    defer_loading: (value) => (value === false ? undefined : 'must be false: all tools are shown to the model at once'),
    allowed_callers: (value) =>
      Array.isArray(value) && value.every((each) => each === 'direct') ? undefined : 'must be ["direct"]: no programs call tools',
  });
  return {
    param,
    label: asText(tool['server_label'], `${param}.server_label`),
    url: textOr(tool['server_url'], undefined, `${param}.server_url`),
    allowed: readAllowed(tool['allowed_tools'], `${param}.allowed_tools`),
    asks: readApproval(tool['require_approval'], `${param}.require_approval`),
  };
}

function readAllowed(value: unknown, param: string): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return undefined;
  return new Set(Array.isArray(value) ? namesIn(value, param) : readFilter(value, param));
}

/** The claims of a server about its tools (`read_only`) decide nothing here. */
function readFilter(value: unknown, param: string): string[] {
  const { tool_names: names, read_only: readOnly, ...others } = asMembers(value, param);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`${param}.${unknown}`, `${param}.${unknown} is no member that is known here.`);
  if (readOnly !== undefined && readOnly !== null)
    throw invalid(`${param}.read_only`, `${param}.read_only is a server’s own claim, which is not believed: name the tools.`);
  return namesIn(names, `${param}.tool_names`);
}

function namesIn(value: unknown, param: string): string[] {
  return asList(value, param).map((name, i) => asText(name, `${param}[${i}]`));
}

/** `always` is OpenAI's default. `never` leaves the decision to the policy of the tenant, which may ask all the same. */
function readApproval(value: unknown, param: string): (name: string) => boolean {
  if (value === undefined || value === null || value === 'always') return () => true;
  if (value === 'never') return () => false;
  if (!isMembers(value)) throw invalid(param, `${param} must be always, never or an object with lists of tools.`);
  const { always, never, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(`${param}.${unknown}`, `${param}.${unknown} is no member that is known here.`);
  const asked = always === undefined || always === null ? [] : readFilter(always, `${param}.always`);
  const unasked = new Set(never === undefined || never === null ? [] : readFilter(never, `${param}.never`));
  return (name) => asked.includes(name) || !unasked.has(name);
}

function readChoice(choice: ResponsesRequest['tool_choice'], named: NamedTools): ToolChoice {
  if (choice === 'none') return { isForced: false, admits: () => false };
  if (!isMembers(choice)) return { isForced: choice === 'required', admits: () => true };
  if (isHosted(choice)) return { isForced: true, admits: admitted(choice, 'tool_choice', named) };
  if (choice['type'] !== 'allowed_tools') return { isForced: false, admits: () => true };
  const list = asList(choice['tools'], 'tool_choice.tools');
  const admits = list.flatMap((tool, i) => (isHosted(tool) ? [admitted(tool as Members, `tool_choice.tools[${i}]`, named)] : []));
  return { isForced: choice['mode'] === 'required' && admits.length > 0, admits: (tool) => admits.some((each) => each(tool)) };
}

function admitted(choice: Members, param: string, { search, servers }: NamedTools): (tool: Tool) => boolean {
  if (isWebSearch(choice)) {
    if (search === undefined) throw invalid(param, `${param} is web_search, and tools has none.`);
    return ({ name }) => name === SEARCH_TOOL;
  }
  const label = asText(choice['server_label'], `${param}.server_label`);
  const only = textOr(choice['name'], undefined, `${param}.name`);
  if (!servers.some((server) => server.label === label))
    throw invalid(`${param}.server_label`, `${param}.server_label names an MCP server that is not in tools.`);
  return ({ name }) => {
    const found = mcpNameOf(name);
    return found?.label === label && (only === undefined || found.name === only);
  };
}

function chosen(
  { search, servers: named }: NamedTools,
  choice: ToolChoice,
  listed: ReadonlySet<unknown>,
  tools: readonly Tool[],
  servers: readonly UsableMcpServer[],
): HostedChoice {
  const all: Tool[] = [];
  const listings: McpListing[] = [];
  const searching = tools.find(({ name }) => name === SEARCH_TOOL);
  if (search !== undefined && searching === undefined)
    throw invalid(`${search}.type`, `${search}.type is web_search, which you cannot use: GET /api/v1/agent/tools says why.`);
  if (search !== undefined && searching !== undefined) all.push(searching);
  for (const { param, label, url, allowed } of named) {
    const server = servers.find((each) => each.label === label);
    if (server === undefined)
      throw invalid(
        `${param}.server_label`,
        `${param}.server_label is no MCP server that you may use; an administrator registers one (svc mcp add).`,
      );
    if (url !== undefined && !isSameAddress(url, server.url))
      throw invalid(
        `${param}.server_url`,
        `${param}.server_url is not the address that the MCP server ${label} is registered with.`,
      );
    const own = tools.filter(({ name }) => {
      const found = mcpNameOf(name);
      return found?.label === label && (allowed === undefined || allowed.has(found.name));
    });
    const error = own.length > 0 ? undefined : (server.reason ?? 'It has no tool that you may use now.');
    if (!listed.has(label)) listings.push({ label, tools: own, error });
    all.push(...own);
  }
  const offered = all.filter((tool) => choice.admits(tool));
  if (choice.isForced && offered.length === 0)
    throw invalid('tool_choice', 'tool_choice is of a tool that cannot be called now.');
  return { offered, listings };
}

function isSameAddress(given: string, registered: string): boolean {
  return URL.canParse(given) && new URL(given).href === registered;
}

/** The decisions of this request: an approval that has its call already was made use of. Throws CompletionError. */
export function readDecisions(
  input: ResponsesRequest['input'],
  items: readonly Members[],
  readId: (id: string) => { readonly run: string; readonly approval: string } | undefined,
): CallDecision[] {
  if (typeof input === 'string') return [];
  const made = new Set(items.map(({ type, approval_request_id: id }) => (type === 'mcp_call' ? id : undefined)));
  const decisions = input.flatMap((item, i) => {
    if (!isMembers(item) || item['type'] !== 'mcp_approval_response') return [];
    const param = `input[${i}].approval_request_id`;
    const id = asText(item['approval_request_id'], param);
    const asked = items.find((each) => each['type'] === 'mcp_approval_request' && each['id'] === id);
    const bound = readId(id);
    if (asked === undefined || bound === undefined)
      throw invalid(param, `${param} names no mcp_approval_request that came before.`);
    if (made.has(id)) return [];
    const label = asText(asked['server_label'], `${param}: server_label`);
    const name = asText(asked['name'], `${param}: name`);
    return [
      {
        id,
        ...bound,
        isApproved: item['approve'] === true,
        reason: textOr(item['reason'], undefined, `input[${i}].reason`)?.slice(0, 1_000),
        tool: mcpToolName({ label, name }),
        arguments: asText(asked['arguments'], `${param}: arguments`),
      },
    ];
  });
  const twice = decisions.find(({ id }, i) => decisions.findIndex((each) => each.id === id) < i);
  if (twice !== undefined) throw invalid('input', `input decides twice about ${twice.id}.`);
  return decisions;
}
