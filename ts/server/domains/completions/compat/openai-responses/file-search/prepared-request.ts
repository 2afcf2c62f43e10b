/** A request with what its vector stores and files say. */

import { DomainError } from '../../../../../platform/errors/domain-error.ts';
import type { Principal } from '../../../../../platform/http/principal.ts';
import type { CompletionRequest } from '../../../../inference/index.ts';
import { userTurns, withKnowledge } from '../../../knowledge/knowledge-messages.ts';
import type { KnowledgeModule } from '../../../knowledge/knowledge-module.ts';
import type { Members } from '../../members.ts';
import { offersTools, responsesFormat, responsesMessages, responsesRequest } from '../request.ts';
import type { ResponsesRequest } from '../schema.ts';
import { type MadeSearch, readFileSearch } from './file-search.ts';
import { type ReadInputFile, withFileTexts } from './input-files.ts';

export interface PreparedRequest {
  readonly request: CompletionRequest;
  /** Undefined: nothing was searched. */
  readonly search: MadeSearch | undefined;
}

/** Searches, and reads files. Throws CompletionError, and what the port throws. */
export async function prepareRequest(
  knowledge: KnowledgeModule,
  caller: Principal,
  body: ResponsesRequest,
  earlier: readonly Members[],
  signal: AbortSignal,
): Promise<PreparedRequest> {
  const read: ReadInputFile = (file) => knowledge.api.answers.readFile(caller, file, signal);
  const input = await withFileTexts(body.input, read);
  const past = await withFileTexts(earlier, (file) => read(file).catch(unlessGone(file.fileName ?? 'file')));
  const { messages, media } = responsesMessages({ ...body, input }, past);
  const search = readFileSearch(body);
  if (search === undefined) return { request: responsesRequest(body, messages, media), search: undefined };
  const { stores, bounds, includesResults } = search;
  const keepsForm = Object.keys(responsesFormat(body)).length > 0;
  const question = { namespaces: stores, turns: userTurns(messages), bounds, keepsForm, offersTools: offersTools(body) };
  const context = await knowledge.api.answers.consult(caller, question, signal);
  const asked = withKnowledge(messages, context);
  const request = { ...responsesRequest(body, asked, media), isSilenced: context.silences.bind(context) };
  return { request, search: { context, includesResults } };
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
  const { messages, media } = responsesMessages({ ...body, input }, past);
  return responsesRequest(body, messages, media);
}

/** A conversation goes on when a file of an earlier message was deleted. */
function unlessGone(fileName: string) {
  return (error: unknown) => {
    if (!(error instanceof DomainError) || error.code !== 'file_not_found') throw error;
    return { fileName, text: '(This file was deleted since.)' };
  };
}
