/** The port for what an audit log keeps of requests: administrative ones, and those that were denied to a caller who is known. */
import type { Principal } from './principal.ts';

export interface AccessRecord {
  caller: Principal;
  method: string;
  /** As it was sent, without the query. */
  path: string;
  /** The status of the answer; 0 when the client went away before it. */
  status: number;
  remoteAddress: string;
  requestId: string;
}

export interface AccessRecorder {
  /** Is called once for each such request, when its answer is out. Must not throw, and must not keep the caller waiting. */
  record(access: AccessRecord): void;
}

export const NO_RECORDS: AccessRecorder = { record: () => undefined };
