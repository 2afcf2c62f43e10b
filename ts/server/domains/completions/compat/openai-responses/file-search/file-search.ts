/** The tool `file_search` of a request: which vector stores are searched, and how. Source: OpenAI API reference, Responses. */

import type { KnowledgeContext, SearchBounds } from '../../../../data/index.ts';
import { invalid } from '../../../errors.ts';
import { asInteger, asText, isMembers, type Members } from '../../members.ts';
import type { ResponsesRequest } from '../schema.ts';
import { hasInputFiles } from './input-files.ts';

interface FileSearch {
  /** Ids of vector stores, or names of knowledge bases. */
  readonly stores: readonly string[];
  readonly bounds: SearchBounds;
  /** The item of the search shows what was found. */
  readonly includesResults: boolean;
}

/** A search that was made for an answer. */
export interface MadeSearch {
  readonly context: KnowledgeContext;
  readonly includesResults: boolean;
}

const TYPE = 'file_search';
/** A member of `include`. */
export const SEARCH_RESULTS = 'file_search_call.results';
const MAX_STORES = 16;
const MAX_STORE_NAME = 200;
const MAX_RESULTS = 50;

export function isFileSearch(tool: unknown): boolean {
  return isMembers(tool) && tool['type'] === TYPE;
}

/** The vector stores that tools name, as they were sent. */
export function storesOf(tools: unknown): string[] {
  const searches = Array.isArray(tools) ? tools.filter(isFileSearch) : [];
  return searches.flatMap((tool: Members) => (Array.isArray(tool['vector_store_ids']) ? tool['vector_store_ids'] : []));
}

/** Undefined: nothing is to be searched. The search is made before the model answers, unless `tool_choice` keeps it from that. */
export function readFileSearch({ tools, tool_choice: choice, include }: ResponsesRequest): FileSearch | undefined {
  const found = (tools ?? []).flatMap((tool, i) => (isFileSearch(tool) ? [{ tool: tool as Members, param: `tools[${i}]` }] : []));
  const [first, second] = found;
  if (second !== undefined)
    throw invalid(second.param, `${second.param}: file_search stands once in tools; name all vector stores there.`);
  if (first === undefined) {
    if (isMembers(choice) && isFileSearch(choice))
      throw invalid('tool_choice', 'tool_choice is file_search, and tools has none.');
    return undefined;
  }
  const search = { ...readTool(first.tool, first.param), includesResults: include?.includes(SEARCH_RESULTS) ?? false };
  return isKept(choice) ? search : undefined;
}

/** Without a search and files, the request is known from its body and the items before it alone. Throws CompletionError. */
export function needsKnowledge(body: ResponsesRequest, earlier: readonly Members[] = []): boolean {
  return readFileSearch(body) !== undefined || hasInputFiles(body.input) || hasInputFiles(earlier);
}

function isKept(choice: ResponsesRequest['tool_choice']): boolean {
  if (choice === 'none') return false;
  if (!isMembers(choice) || choice['type'] === TYPE) return true;
  if (choice['type'] !== 'allowed_tools') return false;
  return Array.isArray(choice['tools']) && choice['tools'].some(isFileSearch);
}

function readTool(tool: Members, param: string): Pick<FileSearch, 'stores' | 'bounds'> {
  const ids = tool['vector_store_ids'];
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > MAX_STORES)
    throw invalid(`${param}.vector_store_ids`, `${param}.vector_store_ids must list 1 to ${MAX_STORES} vector stores.`);
  const stores = ids.map((id, i) => asText(id, `${param}.vector_store_ids[${i}]`));
  if (stores.some((id) => id === '' || id.length > MAX_STORE_NAME))
    throw invalid(`${param}.vector_store_ids`, `${param}.vector_store_ids has an id that is empty or too long.`);
  const max = tool['max_num_results'] ?? undefined;
  return {
    stores,
    bounds: {
      maxResults: max === undefined ? undefined : asInteger(max, `${param}.max_num_results`, 1, MAX_RESULTS),
      filters: tool['filters'] ?? undefined,
      rankingOptions: tool['ranking_options'] ?? undefined,
    },
  };
}
