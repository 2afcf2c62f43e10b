/** The event stream of the Responses API. Deltas go by byte template; only the sequence number is made anew. */
import type { FinishReason, JobUsage, TokenLogprob } from '../../../../native/llama-shapes.ts';
import type { HttpError } from '../../../../platform/http/errors.ts';
import type { ReasoningDetail } from '../../../inference/index.ts';
import type { Frames, StreamEncoder } from '../../answer/frames.ts';
import type { ResponseEnd } from '../../stored-responses/kept-response.ts';
import type { ToolEvent } from '../../tools/tool-event.ts';
import { chatLogprobsJson } from '../openai-chat/logprobs.ts';
import { emitSearch, type ToldSearch } from './file-search/search-item.ts';
import type { HostedItems } from './hosted/hosted-items.ts';
import { type Emit, eventFrame, type OpenItem, openCall, openMessage, openReasoning } from './open-item.ts';
import { type ItemStatus, type OutputItem, type ResponseProgress, responseObject } from './response-object.ts';

const deltaEnd = Buffer.from('"}\n\n');

export class ResponsesEncoder implements StreamEncoder {
  #head: Record<string, unknown>;
  readonly #output: OutputItem[] = [];
  #sequence: number;
  #item: OpenItem | undefined;
  /** JSON string body of the open item's text. */
  #text = '';
  #deltaPrefix = '';
  #logprobs: TokenLogprob[] | undefined;
  /** Those of the next delta. */
  #pendingLogprobs: TokenLogprob[] | undefined;
  #isCut = false;
  /** Of the open item of thoughts, which empties it. */
  readonly #details: ReasoningDetail[] = [];
  readonly #search: ToldSearch | undefined;
  readonly #hosted: HostedItems | undefined;
  /** The length of the messages before, in UTF-16 code units. */
  #saidLength = 0;

  /**
   * A stream that other events have begun goes on with `firstSequence`, and without response.created.
   * @param search was made for the answer. @param hosted writes what the node's tools do.
   */
  constructor(head: Record<string, unknown>, firstSequence = 0, search?: ToldSearch, hosted?: HostedItems) {
    this.#head = head;
    this.#sequence = firstSequence;
    this.#search = search;
    this.#hosted = hosted;
  }

  /** Number of the next event. */
  get nextSequence(): number {
    return this.#sequence;
  }

  /** How the answer ends, once its last choice is finished. */
  end(usage: JobUsage): ResponseEnd {
    return { status: this.#isCut ? 'incomplete' : 'completed', output: this.#output, usage };
  }

  open(out: Frames, _nPromptTokens?: number, model?: string): void {
    if (model !== undefined) this.#head = { ...this.#head, model };
    const emit = this.#emitter(out);
    if (this.#sequence === 0) emit('response.created', { response: this.#response({ status: 'in_progress' }) });
    emit('response.in_progress', { response: this.#response({ status: 'in_progress' }) });
    this.#hosted?.begin(emit, this.#output);
    if (this.#search === undefined) return;
    emitSearch(emit, this.#search.item, this.#output.length);
    this.#output.push(this.#search.item);
  }

  toolEvent(out: Frames, event: ToolEvent): void {
    this.#end(out, 'completed');
    this.#hosted?.add(this.#emitter(out), this.#output, event);
  }

  content(out: Frames, _choice: number, jsonBody: Buffer): void {
    if (this.#item?.kind !== 'message') this.#beginMessage(out);
    this.#delta(out, jsonBody);
  }

  reasoning(out: Frames, _choice: number, jsonBody: Buffer): void {
    if (this.#item?.kind !== 'reasoning') this.#begin(out, openReasoning(this.#nextIndex(out), this.#details));
    this.#delta(out, jsonBody);
  }

  reasoningDetail(out: Frames, _choice: number, detail: ReasoningDetail): void {
    if (this.#item?.kind !== 'reasoning') this.#begin(out, openReasoning(this.#nextIndex(out), this.#details));
    this.#details.push(detail);
  }

  toolCall(out: Frames, _choice: number, _index: number, id: string, name: string): void {
    this.#begin(out, openCall(this.#nextIndex(out), id, name));
  }

  toolArguments(out: Frames, _choice: number, _index: number, jsonBody: Buffer): void {
    this.#delta(out, jsonBody);
  }

  logprobs(_out: Frames, _choice: number, tokens: TokenLogprob[]): void {
    this.#logprobs ??= [];
    this.#logprobs.push(...tokens);
    this.#pendingLogprobs ??= [];
    this.#pendingLogprobs.push(...tokens);
  }

  finish(out: Frames, _choice: number, reason: FinishReason): void {
    this.#isCut = reason === 'length';
    // An answer without a token still has its message.
    if (!this.#item && this.#output.every(isBesideAnswer)) this.#beginMessage(out);
    this.#end(out, this.#isCut ? 'incomplete' : 'completed');
  }

  done(out: Frames, usage: JobUsage): void {
    const end = this.end(usage);
    this.#emitter(out)(`response.${end.status}`, { response: responseObject(this.#head, end) });
  }

  error(out: Frames, error: HttpError): void {
    const failure = { code: error.code, message: error.message };
    const emit = this.#emitter(out);
    emit('error', { ...failure, param: error.param ?? null, detail: error.message, error: { ...failure, ...error.extra } });
    emit('response.failed', { response: this.#response({ status: 'failed', error: failure }) });
  }

  /** Ends the open item; the next one stands behind it. */
  #nextIndex(out: Frames): number {
    this.#end(out, 'completed');
    return this.#output.length;
  }

  #beginMessage(out: Frames): void {
    const index = this.#nextIndex(out);
    const start = this.#saidLength;
    const annotations = (text: string) => [...(this.#search?.annotations(start) ?? []), ...(this.#hosted?.citations(text) ?? [])];
    this.#begin(out, openMessage(index, { logprobs: () => this.#logprobs, annotations }));
  }

  #begin(out: Frames, item: OpenItem): void {
    this.#item = item;
    this.#text = '';
    const members = { type: item.deltaType, ...item.deltaMembers };
    this.#deltaPrefix = `event: ${item.deltaType}\ndata: ${JSON.stringify(members).slice(0, -1)},`;
    item.begin(this.#emitter(out));
  }

  #delta(out: Frames, jsonBody: Buffer): void {
    this.#text += jsonBody.toString();
    out.pushText(`${this.#deltaPrefix}${this.#deltaLogprobs()}"sequence_number":${this.#sequence++},"delta":"`);
    out.push(jsonBody);
    out.push(deltaEnd);
  }

  /** Text deltas must carry the member even when none were asked for. */
  #deltaLogprobs(): string {
    if (this.#item?.kind !== 'message') return '';
    const tokens = this.#pendingLogprobs;
    this.#pendingLogprobs = undefined;
    return `"logprobs":${tokens ? chatLogprobsJson(tokens) : '[]'},`;
  }

  #end(out: Frames, status: ItemStatus): void {
    if (!this.#item) return;
    const text = JSON.parse(`"${this.#text}"`) as string;
    this.#output.push(this.#item.end(this.#emitter(out), text, status));
    if (this.#item.kind === 'message') {
      this.#logprobs = undefined;
      this.#saidLength += text.length;
    }
    this.#item = undefined;
  }

  #emitter(out: Frames): Emit {
    return (type, members) => {
      out.pushText(eventFrame(type, this.#sequence++, members));
    };
  }

  #response(progress: Omit<ResponseProgress, 'output'>): Record<string, unknown> {
    return responseObject(this.#head, { ...progress, output: this.#output });
  }
}

/** What the node did for the answer is no answer; a request for approval is one. */
function isBesideAnswer({ type }: OutputItem): boolean {
  return BESIDE.has(type);
}

const BESIDE: ReadonlySet<string> = new Set(['file_search_call', 'web_search_call', 'mcp_list_tools', 'mcp_call']);
