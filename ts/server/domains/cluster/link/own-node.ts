/** This node as its clients meet it, for answers that are put together of its own part and those of others. */
import { type ForwardedRequest, IDENTITY_HEADER, writeForwardedFacts } from '../../../platform/http/forwarding.ts';
import { endToEndOf } from '../../../platform/http/reply/hop-by-hop.ts';
import { HttpClient } from '../../../platform/network/http-client.ts';
import type { HttpResponse } from '../../../platform/network/http-response.ts';
import { type NodeFront, ownAddress } from './forward-server.ts';

const OF_NOTE = new Set([IDENTITY_HEADER]);
/** The listener closes connections that are idle for ten seconds. */
const KEEP_MS = 4_000;

export class OwnNode {
  readonly #front: () => NodeFront | undefined;
  readonly #client = new HttpClient({ environment: {}, keepAliveMs: KEEP_MS });

  constructor(front: () => NodeFront | undefined) {
    this.#front = front;
  }

  async ask({ method, path, headers, body, facts, signal }: ForwardedRequest): Promise<HttpResponse> {
    const front = this.#front();
    if (front === undefined) throw new Error('the node does not listen yet');
    const length = headers.get('content-length');
    const sent = {
      ...endToEndOf(headers, OF_NOTE),
      ...(facts.host !== '' && { host: facts.host }),
      ...(body !== undefined && length !== undefined && { 'content-length': length }),
      'x-request-id': facts.requestId,
      [IDENTITY_HEADER]: writeForwardedFacts({ ...facts, isPart: true }),
    };
    const url = new URL(`http://${ownAddress(front.address())}${path}`);
    return await this.#client.request(url, { method, headers: sent, body, signal, firstByteMs: 0, idleMs: 0 });
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
