/** Sends what a handler replied. */
import type { Log } from '../../log/log.ts';
import type { Exchange } from '../exchange.ts';
import { EVENT_STREAM_HEADERS, type Heartbeat } from './event-stream.ts';
import { openFileAnswer } from './file-answer.ts';
import { endToEndOf } from './hop-by-hop.ts';
import { closeSource, pump } from './pump.ts';
import type { ByteSource, EventsReply, FileReply, ForwardReply, Reply, ReplyHeaders, StreamReply } from './reply.ts';
import { requestUpstream } from './upstream.ts';

/** Fields of an upstream's answer that this server sends itself. */
export const OWN_FIELDS = new Set([
  'x-request-id',
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-expose-headers',
]);

export class Replier {
  readonly #heartbeat: Heartbeat;
  readonly #log: Log;

  constructor(heartbeat: Heartbeat, log: Log) {
    this.#heartbeat = heartbeat;
    this.#log = log;
  }

  /** Rejects with what keeps the answer from beginning; what fails later is logged, and the connection is cut. */
  send(exchange: Exchange, reply: Reply, requestId: string): void | Promise<void> {
    switch (reply.kind) {
      case 'bytes':
        return exchange.answer.reply(reply.status, reply.headers, reply.body);
      case 'events':
        return this.#sendEvents(exchange, reply, requestId);
      case 'stream':
        return this.#sendStream(exchange, reply, requestId);
      case 'file':
        return this.#sendFile(exchange, reply, requestId);
      case 'forward':
        return this.#forward(exchange, reply, requestId);
    }
  }

  #sendEvents(exchange: Exchange, reply: EventsReply, requestId: string): void {
    const headers = { ...EVENT_STREAM_HEADERS, ...reply.headers };
    if (exchange.method === 'HEAD') {
      exchange.answer.reply(200, headers, '');
      return;
    }
    const stream = exchange.answer.openEvents(200, headers, this.#heartbeat);
    try {
      reply.start(stream);
    } catch (error) {
      this.#log.error('an event stream could not start', { id: requestId, error });
      exchange.cut();
    }
  }

  #sendStream(exchange: Exchange, { status, headers, sizeBytes, body }: StreamReply, requestId: string): Promise<void> {
    return this.#sendBody(exchange, status, headers, sizeBytes, body, requestId);
  }

  async #sendFile(exchange: Exchange, reply: FileReply, requestId: string): Promise<void> {
    const answer = await openFileAnswer(reply, exchange.headers);
    if (hasNoBody(exchange, answer.status) || answer.sizeBytes === 0) {
      await answer.close();
      exchange.answer.replyWithoutBody(answer.status, answer.headers, answer.sizeBytes);
      return;
    }
    await this.#sendBody(exchange, answer.status, answer.headers, answer.sizeBytes, answer.body, requestId);
  }

  async #forward(exchange: Exchange, reply: ForwardReply, requestId: string): Promise<void> {
    const controller = new AbortController();
    exchange.whenAborted(() => controller.abort());
    const answer = await requestUpstream(reply, controller.signal);
    const length = answer.header('content-length');
    const sizeBytes = length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
    await this.#sendBody(exchange, answer.status, endToEndOf(answer.headers, OWN_FIELDS), sizeBytes, answer.body, requestId);
  }

  async #sendBody(
    exchange: Exchange,
    status: number,
    headers: ReplyHeaders,
    sizeBytes: number | undefined,
    body: ByteSource,
    requestId: string,
  ): Promise<void> {
    if (hasNoBody(exchange, status) || sizeBytes === 0) {
      exchange.answer.replyWithoutBody(status, headers, sizeBytes);
      closeSource(body);
      return;
    }
    try {
      await pump(body, exchange.answer.openBytes(status, headers, sizeBytes));
    } catch (error) {
      this.#log.error('a response could not be finished', { id: requestId, error });
      exchange.cut();
    }
  }
}

/** RFC 9110 section 6.4.1. */
function hasNoBody({ method }: Exchange, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}
