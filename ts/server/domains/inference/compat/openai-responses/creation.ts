/** A response that is about to be made: who answers, and what will be kept of it. */
import { scopeOf } from '../../../../platform/http/principal.ts';
import type { RequestContext } from '../../../../platform/http/route.ts';
import type { TenantScope } from '../../../../platform/storage/index.ts';
import type { CompletionRequest } from '../../backend.ts';
import { invalid } from '../../errors.ts';
import type { NewResponse } from '../../kept-responses/kept-response.ts';
import type { ResponseKeeper } from '../../kept-responses/response-keeper.ts';
import type { InferenceService, ResolvedModel } from '../../service.ts';
import { identifier } from '../identifier.ts';
import { keptItems, maxKeptLength } from './kept-items.ts';
import type { ResponsesCall } from './read-call.ts';
import { readResponsesRequest } from './request.ts';
import { responseHead } from './response-object.ts';

export interface ResponsesDeps {
  service: InferenceService;
  keeper: ResponseKeeper;
}

export interface Creation {
  scope: TenantScope;
  request: CompletionRequest;
  model: ResolvedModel;
  /** Members of the response object that never change. */
  head: Record<string, unknown>;
  /** What is kept of it; undefined: nothing. */
  kept: NewResponse | undefined;
}

export async function createResponse(
  { service, keeper }: ResponsesDeps,
  { body: call, caller }: Pick<RequestContext<unknown, unknown, ResponsesCall>, 'body' | 'caller'>,
): Promise<Creation> {
  const scope = scopeOf(caller);
  const { body } = call;
  const isKept = willBeKept(keeper, call);
  const previousId = body.previous_response_id ?? undefined;
  const earlier = previousId === undefined ? [] : await keeper.earlierItems(scope, previousId);
  const request = call.request ?? readResponsesRequest(body, earlier);
  const model = await service.resolve({ ability: 'chat', ...request });
  const facts = { id: identifier('resp_'), createdAt: Date.now(), model: model.card.id };
  const head = responseHead({ ...facts, isKept }, body);
  const created = { scope, request, model, head };
  if (!isKept) return { ...created, kept: undefined };
  const input = keptItems(body.input);
  return { ...created, kept: { ...facts, owner: caller.subject, previousId, head, input, expiresAt: keeper.expiry() } };
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
