/** Tools of every foreign API, as one list of OpenAI function definitions and a choice that the engine enforces. */

import type { ChatPrompt } from '../../inference/index.ts';
import { invalid } from '../errors.ts';
import type { SchemaReader } from './json-schema.ts';
import { asText, isMembers, type Members, textOr } from './members.ts';

export interface FunctionTool {
  type: 'function';
  function: { name: string; description?: string; parameters: unknown; strict?: boolean };
}

export interface ToolUse {
  tools: FunctionTool[];
  choice: 'auto' | 'required' | 'none';
  /** One function was named: it is called once. */
  isSingle?: true;
}

const functionName = /^[\w.:/-]{1,256}$/;

/** Checks one definition; `members` holds name, description, parameters and strict. */
export function readFunction(members: Members, param: string, schemas: SchemaReader): FunctionTool {
  const name = asText(members['name'], `${param}.name`);
  if (!functionName.test(name)) throw invalid(`${param}.name`, `${param}.name must match ${functionName.source}.`);
  const parameters = members['parameters'] ?? { type: 'object', properties: {} };
  if (!isMembers(parameters)) throw invalid(`${param}.parameters`, `${param}.parameters must be a JSON Schema object.`);
  const description = textOr(members['description'], undefined, `${param}.description`);
  return {
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters: schemas.read(parameters, `${param}.parameters`),
      ...(members['strict'] === true ? { strict: true } : {}),
    },
  };
}

export function refuseDuplicates(tools: FunctionTool[], param: string): void {
  const names = new Set<string>();
  for (const { function: tool } of tools) {
    if (names.has(tool.name)) throw invalid(param, `${param} names the function ${tool.name} twice.`);
    names.add(tool.name);
  }
}

/** A forced function is `required` with only that function on offer, so that the grammar admits nothing else. */
export function forceFunctions(tools: FunctionTool[], names: string[], choice: ToolUse['choice'], param: string): ToolUse {
  for (const name of names) {
    if (!tools.some((tool) => tool.function.name === name))
      throw invalid(param, `${param} names ${name.slice(0, 256)}, which is not among the tools.`);
  }
  return { tools: tools.filter((tool) => names.includes(tool.function.name)), choice };
}

export function forceOne(tools: FunctionTool[], name: string): ToolUse {
  return { ...forceFunctions(tools, [name], 'required', 'tool_choice'), isSingle: true };
}

export function plainChoice(value: string, tools: FunctionTool[], param: string): ToolUse {
  if (value !== 'auto' && value !== 'none' && value !== 'required') {
    throw invalid(param, `${param} must be none, auto, required or an object that names a function.`);
  }
  if (value === 'required' && tools.length === 0) throw invalid(param, `${param} is required, but the request has no tools.`);
  return { tools, choice: value };
}

export function promptTools({ tools, choice, isSingle }: ToolUse, parallel: boolean | null | undefined): Partial<ChatPrompt> {
  if (tools.length === 0) return {};
  const parallelToolCalls = isSingle ? false : (parallel ?? undefined);
  return {
    toolsJson: JSON.stringify(tools),
    toolChoice: choice,
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
  };
}
