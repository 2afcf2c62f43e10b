/** What a request may ask to be in a response beside the rest: its `include`. Source: OpenAI API reference, Responses. */
import Type from 'typebox';
import { invalid } from '../../errors.ts';
import { isFileSearch, SEARCH_RESULTS } from './file-search/file-search.ts';
import { SEARCH_SOURCES } from './hosted/hosted-items.ts';
import { isWebSearch } from './hosted/hosted-tools.ts';

export const LOGPROBS = 'message.output_text.logprobs';

/** Of all but three there is nothing to add: their items never come, or are whole at any time. */
export const Includable = Type.Enum([
  LOGPROBS,
  SEARCH_RESULTS,
  'web_search_call.results',
  SEARCH_SOURCES,
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
]);

/** Throws where a response has not what is to be in it: that is made, and kept, only where it was created with the same in `include`. */
export function requireIncluded(heads: readonly Record<string, unknown>[], include: readonly string[]): void {
  const missing = include.find((name) => heads.some((head) => lacks(head, name)));
  if (missing !== undefined)
    throw invalid('include', `${missing} is not kept: a response has it that was created with it in include.`);
}

/** What a response has in any case is missing in none, and neither is what it has no item for. */
function lacks({ include, tools }: Record<string, unknown>, name: string): boolean {
  if (Array.isArray(include) && include.includes(name)) return false;
  if (name === LOGPROBS) return true;
  const asked = Array.isArray(tools) ? (tools as unknown[]) : [];
  return (name === SEARCH_RESULTS && asked.some(isFileSearch)) || (name === SEARCH_SOURCES && asked.some(isWebSearch));
}
