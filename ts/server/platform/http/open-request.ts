/** A request that is open while its credential may have ended. */
import { HttpError } from './errors.ts';
import type { Exchange } from './exchange.ts';

export interface OpenRequest {
  exchange: Pick<Exchange, 'done'>;
  /** Asks for the credential as for a new request. Throws HttpError when it would be refused. */
  judge(): Promise<unknown>;
  refuse(refusal: HttpError): void;
  /** It could not be judged because of a defect; the request goes on. */
  onFault(error: unknown): void;
}

/** How long after the accounts could not be read a credential is judged again. */
const AGAIN_MS = 200;

/** Ends the request once its credential is refused. Until the credential can be judged, the answer goes on. */
export async function endWhenRefused(request: OpenRequest): Promise<void> {
  const { exchange } = request;
  while (!exchange.done) {
    const refusal = await refusalOf(request);
    if (refusal === undefined || exchange.done) return;
    if (refusal.status !== 503) return request.refuse(refusal);
    await new Promise((resolve) => {
      setTimeout(resolve, AGAIN_MS).unref();
    });
  }
}

async function refusalOf({ judge, onFault }: OpenRequest): Promise<HttpError | undefined> {
  try {
    await judge();
  } catch (error) {
    if (error instanceof HttpError) return error;
    onFault(error);
  }
  return undefined;
}
