/** The tools of the node that a caller may use, with what is wrong with their arguments. */
import type { Principal } from '../../../platform/http/principal.ts';
import type { UseRules } from '../../../platform/module/use-rules.ts';
import { SchemaCheck, type SchemaFault } from '../../../platform/schema/schema-check.ts';
import type { ListedTool, Tool } from '../../../platform/tools/tool.ts';
import { edgeError } from '../errors.ts';

export class ToolRegistry {
  readonly #listFor: (caller: Principal) => Promise<readonly ListedTool[]>;
  readonly #uses: UseRules;
  readonly #checks = new WeakMap<Tool, SchemaCheck>();

  /** @param listFor whether a tool can be called may depend on the tenant. */
  constructor(listFor: (caller: Principal) => Promise<readonly ListedTool[]>, uses: UseRules) {
    this.#listFor = listFor;
    this.#uses = uses;
  }

  /** Lists them by name, without those that groups or the credential do not leave to the caller. */
  async list(caller: Principal): Promise<ListedTool[]> {
    const isAllowed = await this.#uses.of(caller, 'tools');
    return (await this.#listFor(caller))
      .filter(({ tool }) => isAllowed(tool.name))
      .toSorted((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
  }

  /** Throws `tool_not_found`, alike for a tool that is not there and for one that is not left to the caller. */
  async get(caller: Principal, name: string): Promise<ListedTool> {
    const isAllowed = await this.#uses.of(caller, 'tools');
    const found = (await this.#listFor(caller)).find(({ tool }) => tool.name === name);
    if (found !== undefined && isAllowed(name)) return found;
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
