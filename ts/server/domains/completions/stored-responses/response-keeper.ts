/** Keeps responses for as long as the settings say, finds them again, and refuses what cannot be kept or found. */

import type { TenantScope } from '../../../platform/storage/index.ts';
import { completionFailure } from '../declared-errors.ts';
import { completionError, invalid } from '../errors.ts';
import { isOpen, type KeptItem, type KeptResponse, type NewResponse, type ResponseEnd } from './kept-response.ts';
import { type ChainRequest, maxChainBytes, maxChainLength } from './response-chain.ts';
import type { ResponseStore } from './response-store.ts';

const DAY_MS = 86_400_000;
const RESPONSE_ID = /^resp_[0-9a-f]{24}$/;

interface ResponseKeeperOptions {
  store: ResponseStore;
  /** 0: nothing is kept. */
  keepDays: number;
  /** Milliseconds since 1970. */
  now?: () => number;
}

export class ResponseKeeper {
  readonly #store: ResponseStore;
  readonly #keepDays: number;
  readonly #now: () => number;

  constructor({ store, keepDays, now = Date.now }: ResponseKeeperOptions) {
    this.#store = store;
    this.#keepDays = keepDays;
    this.#now = now;
  }

  get isKeeping(): boolean {
    return this.#keepDays > 0;
  }

  /** When a response that is created now expires, milliseconds since 1970. */
  expiry(): number {
    return this.#now() + this.#keepDays * DAY_MS;
  }

  /** Resolves when the response is on disk. Throws `storage_unavailable`. */
  async keep(scope: TenantScope, response: NewResponse, end: ResponseEnd): Promise<void> {
    await stored(() => this.#store.insert(scope, response, end));
  }

  /** Throws `response_not_found`. */
  async get(scope: TenantScope, id: string): Promise<KeptResponse> {
    const response = isResponseId(id) ? await stored(() => this.#store.find(scope, id)) : undefined;
    return response ?? responseNotFound(id);
  }

  /** Throws `response_not_found`. */
  async delete(scope: TenantScope, id: string): Promise<void> {
    if (!isResponseId(id) || !(await stored(() => this.#store.delete(scope, id)))) responseNotFound(id);
  }

  /** Input and output of the responses before, oldest first, then the response's own input. Throws `response_not_found`. */
  async inputItems(scope: TenantScope, id: string): Promise<KeptItem[]> {
    const { links } = isResponseId(id) ? await stored(() => this.#store.findChain(scope, id)) : { links: [] };
    const own = links.at(-1) ?? responseNotFound(id);
    return [...links.slice(0, -1).flatMap(itemsOf), ...own.input];
  }

  /**
   * Returns the requests of the response and of those that it continues. Returns undefined when there is no such response, or not all of them are
   * known.
   */
  async chainRequests(scope: TenantScope, id: string): Promise<ChainRequest[] | undefined> {
    return isResponseId(id) ? await stored(() => this.#store.findChainRequests(scope, id)) : undefined;
  }

  /** Returns the members that never change of the responses whose items stand before a response's own input. */
  async earlierHeads(scope: TenantScope, id: string): Promise<Record<string, unknown>[]> {
    return ((await this.chainRequests(scope, id)) ?? []).slice(0, -1).map(({ head }) => head);
  }

  /** Returns the items that a response which continues `previousId` has before its own input, oldest first. */
  async earlierItems(scope: TenantScope, previousId: string): Promise<KeptItem[]> {
    if (!this.isKeeping) {
      throw invalid(
        'previous_response_id',
        'previous_response_id is not served: this server keeps no responses (inference.responses_keep_days is 0); send the earlier items in input.',
      );
    }
    if (!isResponseId(previousId)) previousNotFound(previousId);
    const { links, missingId, isTooLong } = await stored(() => this.#store.findChain(scope, previousId));
    if (missingId !== undefined) previousNotFound(missingId);
    if (isTooLong) throw chainTooLong();
    if (links.some(isOpen)) {
      throw invalid(
        'previous_response_id',
        'The response of previous_response_id has not ended; wait until it has, or cancel it.',
      );
    }
    return links.flatMap(itemsOf);
  }
}

function isResponseId(id: string): boolean {
  return RESPONSE_ID.test(id);
}

function itemsOf({ input, output }: { input: KeptItem[]; output: KeptItem[] }): KeptItem[] {
  return [...input, ...output];
}

/** Failures of the database as errors of this module. */
async function stored<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw completionFailure(error);
  }
}

export function responseNotFound(id: string): never {
  throw completionError('response_not_found', `Response with id '${shown(id)}' not found.`);
}

/** OpenAI’s own words, which clients look for. */
export function previousNotFound(id: string): never {
  throw completionError('previous_response_not_found', `Previous response with id '${shown(id)}' not found.`, {
    param: 'previous_response_id',
  });
}

function chainTooLong() {
  return invalid(
    'previous_response_id',
    `The conversation before this response is too long: at most ${maxChainLength} responses and ${maxChainBytes} bytes of items can be continued. Begin a new one with the items that matter.`,
  );
}

function shown(id: string): string {
  return id.slice(0, 64).toWellFormed();
}
