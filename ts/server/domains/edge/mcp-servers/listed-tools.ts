/** Tools of other servers as they stand for a caller, and what they return as a model reads it. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import { type ListedTool, wireName } from '../../../platform/tools/tool.ts';
import { edgeError } from '../errors.ts';
import type { McpServerRow } from '../tables.ts';
import type { DefinitionState } from './definitions.ts';

export const SIGN_IN_NEEDED = 'You are not signed in there: `svc mcp sign-in LABEL`.';

export function stateOf(
  { enabled, label }: McpServerRow,
  state: DefinitionState,
  failure: string | undefined,
  isSignedIn: boolean,
): { readonly state: NonNullable<ListedTool['state']>; readonly reason?: string } {
  if (enabled === 0) return { state: 'disabled', reason: `An administrator disabled the MCP server ${label}.` };
  if (state === 'changed')
    return { state: 'changed', reason: 'An administrator has to look at it: it is new, or another tool than before.' };
  if (state === 'removed') return { state: 'unavailable', reason: `${label} does not offer it any more.` };
  if (failure !== undefined) return { state: 'unavailable', reason: failure };
  if (!isSignedIn) return { state: 'unavailable', reason: SIGN_IN_NEEDED };
  return { state: 'ready' };
}

/** Names that a model cannot tell apart are not offered. */
export function withoutCollisions(listed: readonly ListedTool[]): ListedTool[] {
  const isOn = ({ state }: ListedTool): boolean => state !== 'disabled';
  const byName = Map.groupBy(listed.filter(isOn), ({ tool }) => wireName(tool.name));
  return listed.map((each) => {
    if (!isOn(each) || byName.get(wireName(each.tool.name))?.length === 1) return each;
    const reason = `Another tool is called ${wireName(each.tool.name)} as well.`;
    return { ...each, isRunning: false, state: 'name_collision' as const, reason };
  });
}

/** Texts as they are; of what a model cannot read, that it was there. */
export function readableOf(result: CallToolResult, label: string): unknown {
  const blocks = result.content.map((block) => {
    if (block.type === 'text') return block.text;
    if (block.type === 'resource' && 'text' in block.resource) return block.resource.text;
    const { type } = block;
    return `[${type}${'mimeType' in block && block.mimeType !== undefined ? ` ${block.mimeType}` : ''}]`;
  });
  if (result.isError === true) throw edgeError('tool_failed', `${label} says: ${blocks.join('\n').slice(0, 2_000)}`);
  return result.structuredContent ?? blocks.join('\n');
}
