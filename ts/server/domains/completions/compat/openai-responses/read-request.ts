/** A request with what its files say, and what it asks of its vector stores. */
import { DomainError } from '../../../../platform/errors/domain-error.ts';
import type { Principal } from '../../../../platform/http/principal.ts';
import type { CompletionRequest } from '../../../inference/index.ts';
import type { KnowledgeCall } from '../../answer/pending-answer.ts';
import type { KnowledgeModule } from '../../knowledge/knowledge-stage.ts';
import type { Members } from '../members.ts';
import { readFileSearch } from './file-search/file-search.ts';
import { type ReadInputFile, withFileTexts } from './file-search/input-files.ts';
import { responsesMessages, responsesRequest } from './request.ts';
import type { ResponsesRequest } from './schema.ts';

export interface ReadRequest {
  readonly request: CompletionRequest;
  /** Undefined: nothing is to be searched. */
  readonly knowledge: KnowledgeCall | undefined;
}

/** Reads files. Throws CompletionError, and what the knowledge bases throw. */
export async function readWithFiles(
  knowledge: KnowledgeModule,
  caller: Principal,
  body: ResponsesRequest,
  earlier: readonly Members[],
  signal: AbortSignal,
): Promise<ReadRequest> {
  const read: ReadInputFile = (file) => knowledge.api.answers.readFile(caller, file, signal);
  const input = await withFileTexts(body.input, read);
  const past = await withFileTexts(earlier, (file) => read(file).catch(unlessGone(file.fileName ?? 'file')));
  return readRequest({ ...body, input }, past);
}

/** The same for a request that is answered later: what it may not ask is refused now, and nothing is searched or read yet. */
export async function admitRequest(
  knowledge: KnowledgeModule,
  caller: Principal,
  body: ResponsesRequest,
  earlier: readonly Members[],
): Promise<CompletionRequest> {
  const unread: ReadInputFile = async ({ fileName }) => ({ fileName: fileName ?? 'file', text: '' });
  const [input, past] = [await withFileTexts(body.input, unread), await withFileTexts(earlier, unread)];
  const search = readFileSearch(body);
  if (search !== undefined) await knowledge.api.answers.admit(caller, { namespaces: search.stores, bounds: search.bounds });
  return readRequest({ ...body, input }, past).request;
}

function readRequest(body: ResponsesRequest, earlier: readonly Members[]): ReadRequest {
  const { messages, media } = responsesMessages(body, earlier);
  const search = readFileSearch(body);
  return {
    request: responsesRequest(body, messages, media),
    knowledge: search && { namespaces: search.stores, bounds: search.bounds, messages },
  };
}

/** A conversation goes on when a file of an earlier message was deleted. */
function unlessGone(fileName: string) {
  return (error: unknown) => {
    if (!(error instanceof DomainError) || error.code !== 'file_not_found') throw error;
    return { fileName, text: '(This file was deleted since.)' };
  };
}
