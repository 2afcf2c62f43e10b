import type { Members } from '../../members.ts';
import type { ResponsesRequest } from '../schema.ts';
import { readFileSearch } from './file-search.ts';
import { hasInputFiles } from './input-files.ts';

/** Without a search and files, the request is known from its body and the items before it alone. Throws CompletionError. */
export function needsKnowledge(body: ResponsesRequest, earlier: readonly Members[] = []): boolean {
  return readFileSearch(body) !== undefined || hasInputFiles(body.input) || hasInputFiles(earlier);
}
