/** Input as the client wrote it -> the items that are kept: each with a type and an id, texts as parts. */
import type { KeptItem } from '../../stored-responses/kept-response.ts';
import { identifier, isMembers, type Members } from '../members.ts';

const idPrefixes: Readonly<Record<string, string>> = {
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  reasoning: 'rs_',
  file_search_call: 'fs_',
  mcp_approval_response: 'mcpar_',
};

const maxIdLength = 256;

/** Most characters of an input that is kept: it is written whole, and read again by each response that continues it. */
export const maxKeptLength = 4 * 1024 * 1024;

/** The input has been read as a request, so its items are known to be whole. */
export function keptItems(input: string | readonly unknown[]): KeptItem[] {
  if (typeof input === 'string') return [keptItem({ role: 'user', content: input })];
  return input.filter(isMembers).map(keptItem);
}

export function isTooLargeToKeep(input: unknown): boolean {
  return textLength(input) > maxKeptLength;
}

/** The nesting of a body is bounded by its parser. */
function textLength(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + textLength(member), 1);
}

function keptItem(item: Members): KeptItem {
  const type = typeof item['type'] === 'string' ? item['type'] : 'message';
  const id = isId(item['id']) ? item['id'] : identifier(idPrefixes[type] ?? 'item_');
  if (type !== 'message') return { ...item, type, id };
  return { status: 'completed', ...item, type, id, content: partsOf(item) };
}

function isId(id: unknown): id is string {
  return typeof id === 'string' && id.length > 0 && id.length <= maxIdLength;
}

function partsOf({ role, content }: Members): unknown {
  if (typeof content !== 'string') return content;
  return [{ type: role === 'assistant' ? 'output_text' : 'input_text', text: content }];
}
