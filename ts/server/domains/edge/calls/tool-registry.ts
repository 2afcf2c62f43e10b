/** The tools of the node that a caller may use, with what is wrong with their arguments. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import { SchemaCheck, type SchemaFault } from '../../../platform/schema/schema-check.ts';
import type { ListedTool, Tool } from '../../../platform/tools/tool.ts';
import { edgeError } from '../errors.ts';
import type { Policy } from '../policies/policy.ts';

/** The tools that a caller may use, and the policy of its tenant: read together, and good for one request. */
export interface CallerTools {
  readonly tools: readonly ListedTool[];
  readonly policy: Policy;
}

export class ToolRegistry {
  readonly #readFor: (caller: Principal) => Promise<CallerTools>;
  readonly #uses: UseRules;
  readonly #checks = new WeakMap<Tool, SchemaCheck>();

  /** @param readFor all tools: whether one can be called may depend on the tenant. */
  constructor(readFor: (caller: Principal) => Promise<CallerTools>, uses: UseRules) {
    this.#readFor = readFor;
    this.#uses = uses;
  }

  /** By name, without those that groups or the credential do not leave to the caller. */
  async read(caller: Principal): Promise<CallerTools> {
    const [isAllowed, { tools, policy }] = await Promise.all([this.#uses.of(caller, 'tools'), this.#readFor(caller)]);
    const left = tools.filter(({ tool }) => isAllowed(tool.name));
    return { tools: left.toSorted((a, b) => (a.tool.name < b.tool.name ? -1 : 1)), policy };
  }

  /** Throws `tool_not_found`, alike for a tool that is not there and for one that is not left to the caller. */
  find({ tools }: CallerTools, name: string): ListedTool {
    const found = tools.find(({ tool }) => tool.name === name);
    if (found !== undefined) return found;
    throw edgeError('tool_not_found', `There is no tool ${JSON.stringify(name.slice(0, 100))} that you may use.`);
  }

  /** Throws `invalid_request`, which names the member. */
  async checkArguments(tool: Tool, value: unknown): Promise<void> {
    const fault = await this.#findFault(tool, value);
    if (fault === undefined) return;
    const param = fault.member === '' ? 'arguments' : `arguments.${fault.member}`;
    throw edgeError('invalid_request', `${tool.name}: ${fault.sentence}`, { param });
  }

  async #findFault(tool: Tool, value: unknown): Promise<SchemaFault | undefined> {
    if (tool.findFault !== undefined) return await tool.findFault(value);
    const check = this.#checks.get(tool) ?? new SchemaCheck(tool.input);
    this.#checks.set(tool, check);
    return check.findFault(value, 'the arguments');
  }
}
