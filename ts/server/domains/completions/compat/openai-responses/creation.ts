/** A response that is about to be made: who answers, and what will be kept of it. */

import { type Principal, scopeOf } from '../../../../platform/http/principal.ts';
import type { RequestContext } from '../../../../platform/http/route.ts';
import type { TenantScope } from '../../../../platform/storage/index.ts';
import type { CompletionRequest, InferenceService, ResolvedModel } from '../../../inference/index.ts';
import { invalid } from '../../errors.ts';
import type { KnowledgeModule } from '../../knowledge/knowledge-module.ts';
import type { KeptItem, NewResponse } from '../../stored-responses/kept-response.ts';
import type { ResponseKeeper } from '../../stored-responses/response-keeper.ts';
import { identifier } from '../identifier.ts';
import type { MadeSearch } from './file-search/file-search.ts';
import { needsKnowledge } from './file-search/needs-knowledge.ts';
import { admitRequest, type PreparedRequest, prepareRequest } from './file-search/prepared-request.ts';
import { keptItems, maxKeptLength } from './kept-items.ts';
import type { ResponsesCall } from './read-call.ts';
import { readResponsesRequest } from './request.ts';
import type { ResponseAccess } from './response-access.ts';
import { responseHead } from './response-object.ts';

export interface ResponsesDeps {
  service: InferenceService;
  keeper: ResponseKeeper;
  knowledge: KnowledgeModule;
}

export interface CreationDeps extends ResponsesDeps {
  access: ResponseAccess;
}

export interface Creation {
  scope: TenantScope;
  request: CompletionRequest;
  /** Made for the answer; a background response makes its own. */
  search: MadeSearch | undefined;
  model: ResolvedModel;
  /** Members of the response object that never change. */
  head: Record<string, unknown>;
  /** What is kept of it; undefined: nothing. */
  kept: NewResponse | undefined;
}

export async function createResponse(
  deps: CreationDeps,
  { body: call, caller, signal }: Pick<RequestContext<unknown, unknown, ResponsesCall>, 'body' | 'caller' | 'signal'>,
): Promise<Creation> {
  const { service, keeper, access } = deps;
  const scope = scopeOf(caller);
  const { body } = call;
  const isKept = willBeKept(keeper, call);
  const previousId = body.previous_response_id ?? undefined;
  if (previousId !== undefined && keeper.isKeeping) await access.requirePrevious(caller, previousId);
  const earlier = previousId === undefined ? [] : await keeper.earlierItems(scope, previousId);
  const { request, search } = await requestOf(deps, caller, call, earlier, signal);
  const model = await service.resolve({ ability: 'chat', ...request }, caller);
  const facts = { id: identifier('resp_'), createdAt: Date.now(), model: model.card.id };
  const head = responseHead({ ...facts, isKept }, body);
  const created = { scope, request, search, model, head };
  if (!isKept) return { ...created, kept: undefined };
  const input = keptItems(body.input);
  return { ...created, kept: { ...facts, owner: caller.subject, previousId, head, input, expiresAt: keeper.expiry() } };
}

async function requestOf(
  { knowledge }: ResponsesDeps,
  caller: Principal,
  { body, request }: ResponsesCall,
  earlier: readonly KeptItem[],
  signal: AbortSignal,
): Promise<PreparedRequest> {
  if (request !== undefined) return { request, search: undefined };
  if (!needsKnowledge(body, earlier)) return { request: readResponsesRequest(body, earlier), search: undefined };
  if (body.background) return { request: await admitRequest(knowledge, caller, body, earlier), search: undefined };
  return await prepareRequest(knowledge, caller, body, earlier, signal);
}

/** An input that is too large is answered all the same unless the client insists: `store: false` in the answer says so. */
function willBeKept(keeper: ResponseKeeper, { body: { store, background }, isInputTooLargeToKeep }: ResponsesCall): boolean {
  if (background) refuseUnkeptBackground(keeper, store);
  if (store === false || !keeper.isKeeping) return false;
  if (!isInputTooLargeToKeep) return true;
  if (!store && !background) return false;
  throw invalid(
    'store',
    `The input has more than ${maxKeptLength} characters, so the response cannot be kept: send store: false.`,
  );
}

function refuseUnkeptBackground(keeper: ResponseKeeper, store: boolean | null | undefined): void {
  if (store === false) throw invalid('background', 'background needs store: true, since its answer is only read later.');
  if (keeper.isKeeping) return;
  const why = 'this server keeps no responses (inference.responses_keep_days is 0)';
  throw invalid('background', `background is not served: ${why}.`);
}
