/** The tools of MCP servers of others, as they stand for a caller. */
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { PoolError } from '../../../platform/pool/pool-error.ts';
import { defineTask } from '../../../platform/pool/task-spec.ts';
import { WorkerPool } from '../../../platform/pool/worker-pool.ts';
import type { SchemaFault } from '../../../platform/schema/schema-check.ts';
import { defineTool, hashOf, type ListedTool, type Tool, type ToolQuestion } from '../../../platform/tools/tool.ts';
import { edgeError } from '../errors.ts';
import type { McpServerRow } from '../tables.ts';
import { isCallableName, type McpDefinition, toolName } from './definitions.ts';
import { stateOf, withoutCollisions } from './listed-tools.ts';
import { CALL_SECONDS, type McpServers, MOST_REMEMBERED, type ShownServer } from './mcp-servers.ts';
import { withDefaults } from './server-questions.ts';

const task = defineTask<typeof import('../../../../workers/check-value.ts').run>(
  'check-value',
  new URL('../../../../workers/check-value.ts', import.meta.url),
);
/** A thread that starts loads the check first. */
const SCHEMA_LIMIT_MS = 10_000;
const MAX_MEMORY_MB = 128;
const MAX_WAITING = 100;

export class McpTools {
  readonly #servers: McpServers;
  readonly #schemas = new ForeignSchemas();
  /** Tools by the hash of their definition: a call finds the one that was offered. */
  readonly #tools = new Map<string, Tool>();

  constructor(servers: McpServers) {
    this.#servers = servers;
  }

  /** The answer to a question of a server, with what it proposes. Throws `invalid_request` for one that its schema refuses. */
  async completeAnswer(question: ToolQuestion, given: unknown): Promise<unknown> {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) throw notTheAnswer('it is no object.');
    const answer = withDefaults(question, given as Record<string, unknown>);
    const fault = await this.#schemas.findFault(question.schema, answer);
    if (fault !== undefined) throw notTheAnswer(fault.sentence);
    return answer;
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
      run: ({ caller, arguments: given, ask }, signal) =>
        this.#servers.call(caller, label, { name, arguments: given, hash, ask, signal }),
    });
    this.#tools.set(key, tool);
    return tool;
  }
}

/** Checks values by schemas that other servers wrote, in a thread with a limit: a pattern of theirs may take for ever. */
class ForeignSchemas {
  #pool: WorkerPool | undefined;

  /** Undefined: the value fits. Throws `tool_failed` where the schema cannot be applied in time. */
  async findFault(schema: unknown, value: unknown): Promise<SchemaFault | undefined> {
    this.#pool ??= new WorkerPool({ nThreads: 1, maxMemoryMb: MAX_MEMORY_MB, maxQueue: MAX_WAITING });
    try {
      const fault = await this.#pool.run(task, { schema, value }, { timeoutMs: SCHEMA_LIMIT_MS });
      return fault === undefined ? undefined : { member: '', sentence: `the arguments do not fit the schema: ${fault}.` };
    } catch (error) {
      const why =
        error instanceof PoolError && error.code === 'task_timeout'
          ? `takes longer than ${SCHEMA_LIMIT_MS / 1000} s`
          : 'cannot be applied';
      throw edgeError('tool_failed', `The schema of the tool ${why}.`, { cause: error });
    }
  }

  async close(): Promise<void> {
    await this.#pool?.close(0);
    this.#pool = undefined;
  }
}

function notTheAnswer(why: string) {
  return edgeError('invalid_request', `The answer is none to the question: ${why}`, { param: 'arguments' });
}
