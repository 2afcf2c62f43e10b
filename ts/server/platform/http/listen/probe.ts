/** Answers liveness probes on a path without an exchange: nothing is kept of the request, no line is logged, no host is judged. */
import { Exchange, type HttpRequest, type HttpResponse } from '../exchange.ts';
import { STATUS_LINES, writeHeaders } from '../reply/answer.ts';
import type { RequestIds } from '../request-observer.ts';
import type { BytesReply, RequestContext, Route } from '../route.ts';
import { findFramingFault } from './framing.ts';

export interface ProbeDeps {
  /** Takes over a request whose framing is at fault. */
  accept(exchange: Exchange): void;
  requestIds: RequestIds;
  isDraining(): boolean;
  /** The socket speaks TLS. */
  isTls: boolean;
}

/** Probes must not read their context; reading this one throws. */
const NO_CONTEXT = new Proxy({} as RequestContext, {
  get(_target, name) {
    throw new Error(`a probe route read ${String(name)} of its context`);
  },
});

/** The fields of the probe that is being answered; one array serves all, as each is answered at once. */
const fields: string[] = [];
const collectField = (name: string, value: string): void => {
  fields.push(name, value);
};

export function answerProbe(route: Route, res: HttpResponse, req: HttpRequest, deps: ProbeDeps): void {
  fields.length = 0;
  req.forEach(collectField);
  if (findFramingFault('GET', fields) !== undefined) {
    deps.accept(new Exchange(res, req, deps.isTls));
    return;
  }
  const reply = route.handle(NO_CONTEXT) as BytesReply;
  res.writeStatus(STATUS_LINES.get(reply.status) ?? '200 OK');
  writeHeaders(res, reply.headers);
  res.writeHeader('x-request-id', deps.requestIds.resolve(fieldOf('x-request-id')));
  res.end(reply.body, deps.isDraining());
}

function fieldOf(name: string): string | undefined {
  for (let i = 0; i < fields.length; i += 2) if (fields[i] === name) return fields[i + 1];
  return undefined;
}
