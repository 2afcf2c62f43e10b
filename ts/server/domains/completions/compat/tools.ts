/** Tools of every foreign API, as one list of OpenAI function definitions and a choice that the engine enforces. */

import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { ChatPrompt, CompletionRequest } from '../../inference/index.ts';
import { invalid } from '../errors.ts';
import { type SchemaReader, type Stated, shownSchema } from './json-schema.ts';
import { asText, isMembers, type Members, textOr } from './members.ts';

interface FunctionTool {
  type: 'function';
  function: { name: string; description?: string; parameters: unknown; strict?: boolean };
  /** A mark of a provider's prompt cache. */
  cache_control?: Members;
}

/** A tool, and what the engine is to follow of its schema. */
export interface ReadTool {
  shown: FunctionTool;
  followed: Members | DomainError;
  /** The place of the schema. */
  param: string;
}

export interface ToolUse {
  tools: ReadTool[];
  choice: 'auto' | 'required' | 'none';
  /** One function was named: it is called once. */
  isSingle?: true;
}

const functionName = /^[\w.:/-]{1,256}$/;

/** Checks one definition; `members` holds name, description, parameters and strict. */
export function readFunction(members: Members, param: string, schemas: SchemaReader): ReadTool {
  const name = asText(members['name'], `${param}.name`);
  if (!functionName.test(name)) throw invalid(`${param}.name`, `${param}.name must match ${functionName.source}.`);
  const stated = members['parameters'] ?? { type: 'object', properties: {} };
  const parameters = stated === true ? { type: 'object' } : stated;
  if (!isMembers(parameters)) throw invalid(`${param}.parameters`, `${param}.parameters must be a JSON Schema object.`);
  const description = textOr(members['description'], undefined, `${param}.description`);
  const isStrict = members['strict'] === true;
  return {
    shown: {
      type: 'function',
      function: {
        name,
        ...(description === undefined ? {} : { description }),
        parameters: shownSchema(parameters),
        ...(isStrict ? { strict: true } : {}),
      },
      ...(isMembers(members['cache_control']) ? { cache_control: members['cache_control'] } : {}),
    },
    followed: followed(parameters, { param: `${param}.parameters`, tool: name, isStrict }, schemas),
    param: `${param}.parameters`,
  };
}

/** A tool that the model need not call may keep its fault until it is known whether it is to be called. */
function followed(parameters: Members, stated: Stated, schemas: SchemaReader): Members | DomainError {
  try {
    return schemas.read(parameters, stated);
  } catch (error) {
    return stated.isStrict || !(error instanceof DomainError) ? schemas.refuse(error) : error;
  }
}

export function refuseDuplicates(tools: readonly ReadTool[], param: string): void {
  const names = new Set<string>();
  for (const {
    shown: { function: tool },
  } of tools) {
    if (names.has(tool.name)) throw invalid(param, `${param} names the function ${tool.name} twice.`);
    names.add(tool.name);
  }
}

/** A forced function is `required` with only that function on offer, so that the grammar admits nothing else. */
export function forceFunctions(tools: ReadTool[], names: string[], choice: ToolUse['choice'], param: string): ToolUse {
  for (const name of names) {
    if (!tools.some(({ shown }) => shown.function.name === name))
      throw invalid(param, `${param} names ${name.slice(0, 256)}, which is not among the tools.`);
  }
  return { tools: tools.filter(({ shown }) => names.includes(shown.function.name)), choice };
}

export function forceOne(tools: ReadTool[], name: string): ToolUse {
  return { ...forceFunctions(tools, [name], 'required', 'tool_choice'), isSingle: true };
}

export function plainChoice(value: string, tools: ReadTool[], param: string): ToolUse {
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
    toolsJson: JSON.stringify(tools.map(({ shown }) => shown)),
    toolChoice: choice,
    ...(parallelToolCalls === undefined ? {} : { parallelToolCalls }),
  };
}

/**
 * The schemas that the engine follows of the tools' arguments, by their names. A tool that cannot be compiled is called with any arguments where the model
 * chooses, and is refused where it must be called.
 */
export function toolSchemas({ tools, choice }: ToolUse, schemas: SchemaReader): Pick<CompletionRequest['job'], 'toolSchemas'> {
  if (tools.length === 0 || choice === 'none') return {};
  const entries = tools.map(({ shown, followed, param }) => {
    const { name, strict } = shown.function;
    if (!(followed instanceof DomainError))
      return [name, schemas.ofTool(followed, { param, tool: name, isStrict: strict === true })];
    if (choice === 'required') schemas.refuse(followed);
    else schemas.ignoreAll(param);
    return [name, { type: 'object' }];
  });
  return { toolSchemas: JSON.stringify(Object.fromEntries(entries)) };
}
