/** Tools of another MCP server as they are pinned: what an administrator has not seen is not offered. */
import { hashOf, wireName } from '../../../platform/tools/tool.ts';

/** All that a model or a person is told of a tool. */
export interface McpDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly input_schema: unknown;
  /** The server's own claims, which decide nothing. */
  readonly annotations?: unknown;
}

export type DefinitionState = 'ready' | 'changed' | 'removed';

export interface SeenDefinition {
  readonly definition: McpDefinition;
  readonly state: DefinitionState;
}

/** A tool as the library gives it; its members are the server's. */
interface OfferedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly annotations?: unknown;
}

const MOST_TOOLS = 200;
const MOST_BYTES = 512 * 1024;
const NAME = /^[A-Za-z0-9_.-]+$/;
/** The names of a model's functions have as many. */
const MOST_NAME_CHARACTERS = 64;

export const LABEL_PATTERN = '^[a-z][a-z0-9_]{0,31}$';

/** Throws an Error that says what is too much. */
export function definitionsOf(offered: readonly OfferedTool[]): McpDefinition[] {
  if (offered.length > MOST_TOOLS) throw new Error(`it has ${offered.length} tools, at most ${MOST_TOOLS} are taken`);
  const definitions = offered.map(({ name, title, description = '', inputSchema, annotations }) => ({
    name,
    ...(title !== undefined && { title }),
    description,
    input_schema: inputSchema,
    ...(annotations !== undefined && { annotations }),
  }));
  const sizeBytes = Buffer.byteLength(JSON.stringify(definitions));
  if (sizeBytes > MOST_BYTES)
    throw new Error(`the definitions of its tools have ${sizeBytes} bytes, at most ${MOST_BYTES} are taken`);
  return definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The hash that an administrator approves: of all tools of the server together. */
export function hashOfAll(definitions: readonly McpDefinition[]): string {
  return hashOf(definitions);
}

/** Each tool beside what was approved: new and changed ones wait, and so does one whose name is another's. */
export function compareDefinitions(approved: readonly McpDefinition[], seen: readonly McpDefinition[]): SeenDefinition[] {
  const known = new Map(approved.map((definition) => [definition.name, hashOf(definition)]));
  const names = new Set(seen.map(({ name }) => name));
  return [
    ...seen.map(
      (definition): SeenDefinition => ({
        definition,
        state: known.get(definition.name) === hashOf(definition) ? 'ready' : 'changed',
      }),
    ),
    ...approved.filter(({ name }) => !names.has(name)).map((definition): SeenDefinition => ({ definition, state: 'removed' })),
  ];
}

export function toolName(label: string, name: string): string {
  return `mcp.${label}.${name}`;
}

/** Whether a model can call a tool by such a name. */
export function isCallableName(label: string, name: string): boolean {
  return NAME.test(name) && wireName(toolName(label, name)).length <= MOST_NAME_CHARACTERS;
}
