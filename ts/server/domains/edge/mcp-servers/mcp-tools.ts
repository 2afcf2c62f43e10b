/** The tools of MCP servers of others, as they stand for a caller. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { defineTool, hashOf, type ListedTool, type Tool } from '../../../platform/tools/tool.ts';
import type { McpServerRow } from '../tables.ts';
import { isCallableName, type McpDefinition, toolName } from './definitions.ts';
import { ForeignSchemas } from './foreign-schema.ts';
import { stateOf, withoutCollisions } from './listed-tools.ts';
import { CALL_SECONDS, type McpServers, MOST_REMEMBERED, type ShownServer } from './mcp-servers.ts';

export class McpTools {
  readonly #servers: McpServers;
  readonly #schemas = new ForeignSchemas();
  /** Tools by the hash of their definition: a call finds the one that was offered. */
  readonly #tools = new Map<string, Tool>();

  constructor(servers: McpServers) {
    this.#servers = servers;
  }

  async close(): Promise<void> {
    await this.#schemas.close();
  }

  /**
   * Lists those of the caller's tenant; of a server that is off or changed, with the reason.
   * @param rows the servers of the tenant, where they are read already.
   */
  async list(caller: Principal, rows?: readonly McpServerRow[]): Promise<ListedTool[]> {
    const shown = await this.#servers.list(scopeOf(caller), rows);
    const lists = await Promise.all(shown.map((server) => this.#toolsOf(server, caller)));
    return withoutCollisions(lists.flat());
  }

  async #toolsOf({ row, seen, reason: failure }: ShownServer, caller: Principal): Promise<ListedTool[]> {
    const chosen = row.tools === null ? undefined : new Set(JSON.parse(row.tools) as string[]);
    const isSignedIn = await this.#servers.isSignedIn(row, caller);
    return seen
      .filter(({ definition: { name } }) => chosen === undefined || chosen.has(name))
      .filter(({ definition: { name } }) => isCallableName(row.label, name))
      .map(({ definition, state }) => {
        const { state: listed, reason } = stateOf(row, state, failure, isSignedIn);
        const shared = {
          tool: this.#toolOf(row, definition),
          module: 'edge' as const,
          source: `mcp:${row.label}`,
          state: listed,
        };
        return { ...shared, isRunning: listed === 'ready', ...(reason !== undefined && { reason }) };
      });
  }

  #toolOf({ tenant, label }: McpServerRow, definition: McpDefinition): Tool {
    const hash = hashOf(definition);
    const key = `${tenant} ${label} ${hash}`;
    const known = this.#tools.get(key);
    if (known !== undefined) return known;
    if (this.#tools.size > MOST_REMEMBERED) this.#tools.clear();
    const { name, description, input_schema: schema } = definition;
    const tool = defineTool({
      name: toolName(label, name),
      description,
      input: schema as never,
      effect: 'external',
      scope: 'tools:use',
      maxSeconds: CALL_SECONDS,
      isUntrusted: true,
      metricName: 'mcp',
      findFault: (value) => this.#schemas.findFault(schema, value),
      run: ({ caller, arguments: given }, signal) =>
        this.#servers.call(caller, label, { name, arguments: given, hash, seconds: CALL_SECONDS, signal }),
    });
    this.#tools.set(key, tool);
    return tool;
  }
}
