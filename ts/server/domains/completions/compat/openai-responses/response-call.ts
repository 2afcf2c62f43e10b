/** A response that is about to be made: what is asked of the model, how it is written, and what will be stored of it. */
import type { JobUsage } from '../../../../native/llama-shapes.ts';
import { type Principal, scopeOf } from '../../../../platform/http/principal.ts';
import type { RequestContext } from '../../../../platform/http/route.ts';
import type { TenantScope } from '../../../../platform/storage/index.ts';
import type { Answer, Choice } from '../../answer/answer-collector.ts';
import type { AnswerCall, ModelledAnswer, Wire } from '../../answer/pending-answer.ts';
import { invalid } from '../../errors.ts';
import type { AnswerFilters } from '../../knowledge/answer-filters.ts';
import type { KnowledgeModule } from '../../knowledge/knowledge-stage.ts';
import type { CompletionService } from '../../service.ts';
import type { KeptItem, NewResponse, ResponseEnd } from '../../stored-responses/kept-response.ts';
import type { ResponseKeeper } from '../../stored-responses/response-keeper.ts';
import type { HostedTools } from '../../tools/answer-tools.ts';
import { readApprovalRequestId } from '../../tools/tool-calls.ts';
import type { ToolEvent } from '../../tools/tool-event.ts';
import { identifier, isMembers } from '../members.ts';
import { ResponsesEncoder } from './event-encoder.ts';
import { type MadeSearch, needsKnowledge, readFileSearch } from './file-search/file-search.ts';
import { fileCitations, searchItem, toldSearch } from './file-search/search-item.ts';
import { HostedItems } from './hosted/hosted-items.ts';
import { readDecisions, readHosted } from './hosted/hosted-tools.ts';
import { keptItems, maxKeptLength } from './kept-items.ts';
import type { ResponsesCall } from './read-call.ts';
import { admitRequest, type ReadRequest, readWithFiles } from './read-request.ts';
import { readResponsesRequest } from './request.ts';
import type { ResponseAccess } from './response-access.ts';
import {
  callItem,
  messageItem,
  type OutputItem,
  reasoningItem,
  responseHead,
  responseObject,
  textPart,
} from './response-object.ts';
import type { ResponsesRequest } from './schema.ts';

export interface ResponsesDeps {
  completions: CompletionService;
  keeper: ResponseKeeper;
  knowledge: KnowledgeModule;
}

export interface CreationDeps extends ResponsesDeps {
  access: ResponseAccess;
}

export async function responseCall(
  deps: CreationDeps,
  { body: call, caller, signal }: Pick<RequestContext<unknown, unknown, ResponsesCall>, 'body' | 'caller' | 'signal'>,
): Promise<AnswerCall<ResponsesWire>> {
  const { keeper, access } = deps;
  const scope = scopeOf(caller);
  const { body } = call;
  const isKept = willBeKept(keeper, call);
  const previousId = body.previous_response_id ?? undefined;
  if (previousId !== undefined && keeper.isKeeping) await access.requirePrevious(caller, previousId);
  const earlier = previousId === undefined ? [] : await keeper.earlierItems(scope, previousId);
  const { request, knowledge } = await requestOf(deps, caller, call, earlier, signal);
  const store = isKept ? { keeper, scope, owner: caller.subject } : undefined;
  const hosted = hostedTools(body, earlier);
  return {
    request,
    knowledge,
    edgeTools: hosted && { hosted },
    isStreamed: body.stream ?? false,
    wire: (answer) => new ResponsesWire(answer, body, store),
  };
}

/** Undefined: the request names no tools of the node. */
function hostedTools(body: ResponsesRequest, earlier: readonly KeptItem[]): HostedTools | undefined {
  const { input } = body;
  const items = typeof input === 'string' ? earlier : [...earlier, ...input.filter(isMembers)];
  const hosted = readHosted(body, items);
  if (hosted === undefined) return undefined;
  if (body.background)
    throw invalid(
      'background',
      'background cannot be with web_search or mcp: a background response that is interrupted is made from its beginning, and a call would be made ' +
        'twice. Set a goal, or ask without background.',
    );
  return { ...hosted, decisions: readDecisions(input, items, readApprovalRequestId) };
}

interface ResponseStoring {
  readonly keeper: ResponseKeeper;
  readonly scope: TenantScope;
  readonly owner: string | undefined;
}

/** The answer in the shape of the Responses API, which is stored as it is shown. */
class ResponsesWire implements Wire {
  /** The row that is stored when the response is created; undefined: nothing is stored. */
  readonly kept: NewResponse | undefined;
  readonly beforeDone: ((usage: JobUsage) => Promise<void>) | undefined;
  /** Members of the response object that never change. */
  readonly #head: Record<string, unknown>;
  readonly #storing: ResponseStoring | undefined;
  readonly #filters: ModelledAnswer['filters'];
  /** Made for the answer; a background response makes its own. */
  readonly #search: Parameters<typeof toldSearch>[0] | undefined;
  readonly #hosted: HostedItems | undefined;
  #encoder: ResponsesEncoder | undefined;

  /** @param storing undefined: nothing of the answer is stored. */
  constructor(
    { model, knowledge, filters, tools }: ModelledAnswer,
    body: ResponsesRequest,
    storing: ResponseStoring | undefined,
  ) {
    const facts = { id: identifier('resp_'), createdAt: Date.now(), model: model.card.id };
    this.#head = responseHead({ ...facts, isKept: storing !== undefined }, body);
    this.#storing = storing;
    this.#filters = filters;
    this.#hosted = tools && new HostedItems(tools.listings, body.include ?? []);
    this.#search = knowledge && { context: knowledge, includesResults: readFileSearch(body)?.includesResults ?? false };
    this.kept = storing && {
      ...facts,
      owner: storing.owner,
      previousId: body.previous_response_id ?? undefined,
      head: this.#head,
      input: keptItems(body.input),
      expiresAt: storing.keeper.expiry(),
    };
    this.beforeDone = storing && ((usage) => this.#keep(this.encoder().end(usage)));
  }

  encoder(): ResponsesEncoder {
    const told = this.#search && this.#filters && toldSearch(this.#search, this.#filters);
    this.#encoder ??= new ResponsesEncoder(this.#head, 0, told, this.#hosted);
    return this.#encoder;
  }

  async body({ choices, usage, model, toolEvents = [] }: Answer): Promise<object> {
    const isCut = choices.some(({ finish }) => finish === 'length');
    const isSearched = this.#search !== undefined && this.#filters !== undefined;
    const hosted = hostedOutput(this.#hosted, toolEvents);
    const notes = (text: string) => this.#hosted?.citations(text) ?? [];
    const said = isSearched
      ? searchedOutput(this.#search, this.#filters, choices, notes)
      : choices.flatMap((choice) => outputItems(choice, notes(choice.content), hosted.asked.length > 0));
    const output = [...hosted.done, ...said, ...hosted.asked];
    const end = { status: isCut ? 'incomplete' : 'completed', output, usage } as const;
    await this.#keep(end);
    return responseObject(model === undefined ? this.#head : { ...this.#head, model }, end);
  }

  async #keep(end: ResponseEnd): Promise<void> {
    if (this.#storing !== undefined && this.kept !== undefined)
      await this.#storing.keeper.keep(this.#storing.scope, this.kept, end);
  }
}

async function requestOf(
  { knowledge }: ResponsesDeps,
  caller: Principal,
  { body, request }: ResponsesCall,
  earlier: readonly KeptItem[],
  signal: AbortSignal,
): Promise<ReadRequest> {
  if (request !== undefined) return { request, knowledge: undefined };
  if (!needsKnowledge(body, earlier)) return { request: readResponsesRequest(body, earlier), knowledge: undefined };
  if (body.background) return { request: await admitRequest(knowledge, caller, body, earlier), knowledge: undefined };
  return await readWithFiles(knowledge, caller, body, earlier, signal);
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

/** Makes the output items of a response from a gathered answer. */
function outputItems(
  { content, reasoning, reasoningDetails, toolCalls, logprobs, finish }: Choice,
  annotations: readonly object[] = [],
  asks = false,
): OutputItem[] {
  const items: OutputItem[] = [];
  if (reasoning !== '' || reasoningDetails !== undefined)
    items.push(reasoningItem(identifier('rs_'), 'completed', reasoning, reasoningDetails));
  if (content !== '' || (toolCalls.length === 0 && !asks))
    items.push(messageItem(identifier('msg_'), 'completed', [textPart(content, logprobs, annotations)]));
  for (const call of toolCalls) items.push(callItem(identifier('fc_'), 'completed', call.id, call.name, call.arguments));
  const last = items.at(-1);
  if (last && finish === 'length') last.status = 'incomplete';
  return items;
}

/** Puts the search first, then the answer with the citations that hold. */
function searchedOutput(
  search: MadeSearch,
  filters: AnswerFilters,
  choices: readonly Choice[],
  notes: (text: string) => readonly object[],
): OutputItem[] {
  const items = choices.flatMap((choice, i) =>
    outputItems(choice, [...fileCitations(filters.citedBy(i)), ...notes(choice.content)]),
  );
  return [searchItem(search), ...items];
}

/** What the node's tools did stands before the answer, and what they ask behind it. */
function hostedOutput(
  hosted: HostedItems | undefined,
  events: readonly ToolEvent[],
): { readonly done: OutputItem[]; readonly asked: OutputItem[] } {
  const output: OutputItem[] = [];
  const unheard = (): void => undefined;
  hosted?.begin(unheard, output);
  for (const event of events) hosted?.add(unheard, output, event);
  const isAsked = ({ type }: OutputItem): boolean => type === 'mcp_approval_request';
  return { done: output.filter((item) => !isAsked(item)), asked: output.filter(isAsked) };
}
