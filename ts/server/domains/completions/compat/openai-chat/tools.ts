/** `tools` and `tool_choice` of the chat API, in string and object form. */
import { invalid } from '../../errors.ts';
import type { SchemaReader } from '../json-schema.ts';
import { asList, asMembers, asText, type Members } from '../members.ts';
import {
  type FunctionTool,
  forceFunctions,
  forceOne,
  plainChoice,
  readFunction,
  refuseDuplicates,
  type ToolUse,
} from '../tools.ts';

export function readToolUse(
  tools: readonly unknown[] | null | undefined,
  choice: string | Members | null | undefined,
  schemas: SchemaReader,
): ToolUse {
  const read = (tools ?? []).map((tool, index) => readTool(asMembers(tool, `tools[${index}]`), `tools[${index}]`, schemas));
  refuseDuplicates(read, 'tools');
  if (choice === undefined || choice === null) return { tools: read, choice: 'auto' };
  return typeof choice === 'string' ? plainChoice(choice, read, 'tool_choice') : objectChoice(choice, read);
}

function readTool(tool: Members, param: string, schemas: SchemaReader): FunctionTool {
  if (tool['type'] !== 'function')
    throw invalid(`${param}.type`, `${param}.type must be function; this server runs no other tools.`);
  return readFunction(asMembers(tool['function'], `${param}.function`), `${param}.function`, schemas);
}

function objectChoice(choice: Members, tools: FunctionTool[]): ToolUse {
  if (choice['type'] === 'function') {
    return forceOne(tools, chosenName(choice, 'tool_choice'));
  }
  if (choice['type'] === 'allowed_tools') {
    const allowed = asMembers(choice['allowed_tools'], 'tool_choice.allowed_tools');
    const names = asList(allowed['tools'], 'tool_choice.allowed_tools.tools').map((tool, index) =>
      chosenName(asMembers(tool, `tool_choice.allowed_tools.tools[${index}]`), `tool_choice.allowed_tools.tools[${index}]`),
    );
    return forceFunctions(tools, names, allowed['mode'] === 'required' ? 'required' : 'auto', 'tool_choice');
  }
  throw invalid('tool_choice.type', 'tool_choice.type must be function or allowed_tools.');
}

function chosenName(choice: Members, param: string): string {
  return asText(asMembers(choice['function'], `${param}.function`)['name'], `${param}.function.name`);
}
