/** Asks one source: in its pace, page by page, and never twice for the same at once. */
import { DomainError } from '../../../platform/errors/domain-error.ts';
import type { HttpClient } from '../../../platform/network/http-client.ts';
import { HttpClientError } from '../../../platform/network/http-client-error.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { hashOf } from '../../../platform/tools/tool.ts';
import type { Adapter, Operation, RequestTemplate } from '../adapters/adapter.ts';
import { AnswerFault, type AnswerPage, readIds, type ScienceRecord } from '../answers/read-answer.ts';
import { scienceError } from '../errors.ts';
import type { AnswerReader } from './answer-reader.ts';
import type { Pace } from './pace.ts';
import { readLimits } from './rate-headers.ts';
import { SharedAnswers } from './shared-answers.ts';
import { AddressFault, type Arguments, addressOf } from './template.ts';

/** Answers as they came, up to a limit. */
export interface RawAnswer {
  readonly form: Operation['form'];
  /** One for each page. */
  readonly pages: readonly { readonly body: string; readonly size_bytes: number; readonly cut_at: number | null }[];
}

interface SourceAnswer {
  readonly records: readonly ScienceRecord[];
  readonly raw: RawAnswer;
  /** How many the source has in all; undefined: it does not say. */
  readonly total: number | undefined;
}

interface KeptAnswer extends SourceAnswer {
  readonly sizeBytes: number;
}

interface SourceCall {
  readonly adapter: Adapter;
  readonly operation: string;
  readonly args: Arguments;
  readonly limit: number;
  /** It is a tenant's, and answers to it are shared within the tenant. */
  readonly key: { readonly value: string; readonly tenant: string } | undefined;
}

interface SourceClientOptions {
  readonly client: HttpClient;
  readonly pace: Pace;
  readonly reader: AnswerReader;
  readonly userAgent: string;
  readonly contact: string;
  readonly now: () => number;
  /** Is told of each request that left, by what came of it. */
  readonly onRequest: (source: string, outcome: 'ok' | 'refused' | 'failed') => void;
}

const MAX_ANSWER_BYTES = 2 * 1024 * 1024;
const MAX_RAW_BYTES = 1024 * 1024;
const CACHE_BYTES = 16 * 1024 * 1024;
const MOST_PAGES = 10;
/** An empty page that the total contradicts is asked for again so often. */
const EMPTY_RETRIES = 2;
/** A source that is short of time is asked once more. */
const MOST_TRIES = 2;
const ACCEPT = { json: 'application/json', xml: 'application/xml, text/xml', csv: 'text/csv' } as const;

export class SourceClient {
  readonly #options: SourceClientOptions;
  readonly #shared: SharedAnswers<KeptAnswer>;
  /** The distance of requests as a source said it last. */
  readonly #saidIntervals = new Map<string, number>();

  constructor(options: SourceClientOptions) {
    this.#options = options;
    this.#shared = new SharedAnswers(CACHE_BYTES, options.now);
  }

  /** Throws the DomainErrors of a source that cannot be asked, or the signal's reason. */
  async ask(call: SourceCall, signal: AbortSignal): Promise<SourceAnswer> {
    const { adapter, operation, args, limit, key } = call;
    const id = hashOf([adapter.id, operation, args, limit, key?.tenant ?? null]);
    return (await this.#shared.get(id, adapter.cache_seconds * 1000, signal, (own) => this.#askPages(call, own))).answer;
  }

  async #askPages(call: SourceCall, signal: AbortSignal): Promise<KeptAnswer> {
    const operation = operationOf(call);
    const records: ScienceRecord[] = [];
    const texts: string[] = [];
    const size = Math.min(call.limit, operation.max_rows ?? call.limit);
    let total: number | undefined;
    let args: Arguments = { ...call.args, limit: size, offset: 0, page: 1, cursor: undefined };
    if (operation.paging?.first !== undefined) args = { ...args, ...firstPage(operation.paging, operation.paging.first) };
    for (let nSent = 0, nPages = 0; nPages < MOST_PAGES; nPages += 1) {
      const { page, text } = await this.#askPage(call, operation, args, nSent, signal);
      texts.push(text);
      records.push(...page.records);
      total = page.total ?? total;
      nSent += page.nSent;
      const { paging } = operation;
      const isLast = page.nSent === 0 || (total !== undefined ? nSent >= total : page.nSent < size);
      if (paging === undefined || records.length >= call.limit || isLast) break;
      if (paging.by === 'cursor' && (page.next === undefined || page.next === args['cursor'])) break;
      args = { ...args, ...nextPage(paging, args, { nSent, next: page.next }) };
    }
    const raw = rawOf(operation.form, texts);
    const sizeBytes = raw.pages.reduce((sum, { body }) => sum + 2 * body.length, 0) + 2 * JSON.stringify(records).length;
    return { records: records.slice(0, call.limit), raw, total, sizeBytes };
  }

  async #askPage(
    call: SourceCall,
    operation: Operation,
    args: Arguments,
    nBefore: number,
    signal: AbortSignal,
  ): Promise<{ page: AnswerPage; text: string }> {
    const { now, reader } = this.#options;
    for (let n = 0; ; n += 1) {
      const { ids, total, text: first } = await this.#idsOf(call, operation, args, signal);
      if (ids?.length === 0 && !isAgainst(total, nBefore)) return { page: emptyPage(total), text: first ?? '' };
      if (ids?.length !== 0) {
        const text = await this.#send(call, operation, operation.request, { ...args, ids: ids?.join(',') }, signal);
        if (text === undefined) return { page: emptyPage(0), text: '' };
        const page = await readAs(call.adapter, () => reader.read(call.adapter, call.operation, text, new Date(now())));
        const whole = { ...page, total: total ?? page.total };
        if (page.nSent > 0 || !isAgainst(whole.total, nBefore)) return { page: whole, text };
      }
      if (n >= EMPTY_RETRIES) throw failed(call.adapter, 'it sent an empty page, though it says that there is more');
    }
  }

  /** Undefined ids: the operation is one request. */
  async #idsOf(
    call: SourceCall,
    operation: Operation,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<{ ids?: readonly string[]; total?: number | undefined; text?: string }> {
    const { first } = operation;
    if (first === undefined) return {};
    const text = await this.#send(call, { ...operation, form: 'json' }, first.request, args, signal);
    return text === undefined
      ? { ids: [], total: 0, text: '' }
      : { ...(await readAs(call.adapter, () => readIds(first, text))), text };
  }

  /** Undefined: the source says that it found nothing. */
  async #send(
    call: SourceCall,
    { form, empty_status: emptyStatus }: Operation,
    template: RequestTemplate,
    args: Arguments,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { adapter, key } = call;
    const url = this.#address(adapter, template, args);
    const headers: Record<string, string> = { accept: ACCEPT[form], 'user-agent': this.#options.userAgent };
    if (key !== undefined && adapter.key?.in === 'query') url.searchParams.set(adapter.key.name, key.value);
    if (key !== undefined && adapter.key?.in === 'header')
      headers[adapter.key.name.toLowerCase()] = `${adapter.key.prefix ?? ''}${key.value}`;
    for (let n = 1; ; n += 1) {
      try {
        return await this.#sendOnce(call, url, headers, emptyStatus, signal);
      } catch (error) {
        const isPassing = error instanceof DomainError && error.code === 'source_rate_limited' && error.extra['said'] === true;
        if (!isPassing || n >= MOST_TRIES) throw error;
      }
    }
  }

  async #sendOnce(
    { adapter, key }: SourceCall,
    url: URL,
    headers: Readonly<Record<string, string>>,
    emptyStatus: number | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { client, pace, onRequest } = this.#options;
    const rate = key === undefined ? adapter.rate : (adapter.rate_with_key ?? adapter.rate);
    await pace.take(adapter.id, rate, signal);
    try {
      const answer = await client.request(url, { headers, signal });
      await this.#believe(adapter, rate, answer);
      if (answer.status === emptyStatus) {
        answer.discard();
        onRequest(adapter.id, 'ok');
        return undefined;
      }
      if (!answer.isOk) throw refusalOf(adapter, answer);
      const text = new TextDecoder(charsetOf(answer)).decode(await answer.bytes(MAX_ANSWER_BYTES));
      onRequest(adapter.id, 'ok');
      return text;
    } catch (error) {
      onRequest(adapter.id, error instanceof DomainError ? 'refused' : 'failed');
      if (error instanceof DomainError || signal.aborted) throw error;
      throw unreachable(adapter, error);
    }
  }

  /** Makes what the source says of its limits hold for all nodes. */
  async #believe({ id }: Adapter, rate: { requests: number; per_seconds: number }, answer: HttpResponse): Promise<void> {
    const { pace, now } = this.#options;
    const { blockedMs, intervalMs = 0 } = readLimits(answer, now());
    const isRefused = answer.status === 429;
    if (blockedMs !== undefined || isRefused) await pace.block(id, blockedMs);
    const slower = intervalMs > (rate.per_seconds * 1000) / rate.requests ? Math.ceil(intervalMs * 1.05) : 0;
    if ((this.#saidIntervals.get(id) ?? 0) === slower) return;
    this.#saidIntervals.set(id, slower);
    await pace.slowDown(id, slower);
  }

  #address(adapter: Adapter, template: RequestTemplate, args: Arguments): URL {
    try {
      return addressOf(adapter, template, args, this.#options.contact);
    } catch (error) {
      if (error instanceof AddressFault) throw scienceError('invalid_request', error.message, { cause: error });
      throw error;
    }
  }
}

function operationOf({ adapter, operation }: SourceCall): Operation {
  const found = adapter.operations[operation];
  if (found === undefined) throw new Error(`${adapter.id} has no operation ${operation}`);
  return found;
}

type Paging = NonNullable<Operation['paging']>;

function firstPage({ by }: Paging, first: string): Arguments {
  return { [by]: by === 'cursor' ? first : Number(first) };
}

function nextPage({ by }: Paging, args: Arguments, { nSent, next }: { nSent: number; next: string | undefined }): Arguments {
  if (by === 'cursor') return { cursor: next };
  return by === 'page' ? { page: Number(args['page']) + 1 } : { offset: nSent };
}

function isAgainst(total: number | undefined, nBefore: number): boolean {
  return total !== undefined && total > nBefore;
}

function emptyPage(total: number | undefined): AnswerPage {
  return { records: [], total, nSent: 0, next: undefined };
}

function rawOf(form: Operation['form'], texts: readonly string[]): RawAnswer {
  let left = MAX_RAW_BYTES;
  const pages = texts.map((text) => {
    const bytes = Buffer.from(text);
    const isCut = bytes.length > left;
    // A character that is cut in two is left out.
    const body = isCut
      ? bytes
          .subarray(0, left)
          .toString()
          .replace(/(?<!\uFFFD)\uFFFD+$/, '')
      : text;
    left -= Math.min(left, bytes.length);
    return { body, size_bytes: bytes.length, cut_at: isCut ? Buffer.byteLength(body) : null };
  });
  return { form, pages };
}

function charsetOf(answer: HttpResponse): string {
  const [, name = ''] = /charset="?([\w-]{1,30})/i.exec(answer.header('content-type') ?? '') ?? [];
  return /^(?:iso-8859-1|latin1|windows-1252)$/i.test(name) ? 'windows-1252' : 'utf-8';
}

async function readAs<T>(adapter: Adapter, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AnswerFault) throw failed(adapter, error.message, error);
    throw error;
  }
}

function refusalOf(adapter: Adapter, answer: HttpResponse): DomainError {
  const { status } = answer;
  answer.discard();
  const extra = { source: adapter.id, status };
  if (status === 429 || status === 503)
    return scienceError('source_rate_limited', `${adapter.name} answered ${status}: it takes no more requests now.`, {
      extra: { ...extra, said: true },
      retryAfterMs: 10_000,
    });
  const why = status === 401 || status === 403 ? ', so it does not take the key, or asks for one' : '';
  return scienceError('source_failed', `${adapter.name} answered ${status}${why}.`, { extra });
}

function failed(adapter: Adapter, reason: string, cause?: unknown): DomainError {
  return scienceError('source_failed', `${adapter.name}: ${reason}.`, { cause, extra: { source: adapter.id } });
}

/** Names and addresses inside the network stay out of the sentence. */
function unreachable(adapter: Adapter, error: unknown): DomainError {
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof HttpClientError && error.failure.endsWith('timeout'))
    return scienceError('source_timeout', `${adapter.name}: ${error.message}.`, { cause: error, extra: { source: adapter.id } });
  return failed(adapter, error instanceof HttpClientError ? error.message : (code ?? 'the connection failed'), error);
}
