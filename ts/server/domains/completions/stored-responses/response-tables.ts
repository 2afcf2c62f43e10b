/** Rows of the tables of kept responses. JSON columns hold text. */
import type { JobUsage } from '../../../native/llama-shapes.ts';
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { KeptItem, KeptResponse, NewResponse, ResponseEnd, ResponseFailure, ResponseStatus } from './kept-response.ts';

export interface ResponseTables {
  responses: {
    tenant: string;
    id: string;
    status: ResponseStatus;
    model: string;
    owner: string | null;
    /** Milliseconds since 1970, as expires_at. */
    created_at: number;
    expires_at: number;
    previous_id: string | null;
    head: string;
    input: string;
    output: string;
    usage: string | null;
    error: string | null;
    /** Bytes of input and output: what a chain takes. */
    n_bytes: number;
    is_background: number;
    /** The data that a background response's job needs beside the input; null when it has ended. */
    request: string | null;
    job_id: string | null;
    /** How often the job began to generate. */
    n_runs: number;
    end_sequence: number;
  };
  /** Events of background responses, several to a row, in the bytes that go to the client. */
  response_events: {
    tenant: string;
    response_id: string;
    first_sequence: number;
    last_sequence: number;
    frames: string;
  };
}

export const shownColumns = [
  'id',
  'status',
  'head',
  'output',
  'usage',
  'error',
  'is_background',
  'job_id',
  'end_sequence',
  'created_at',
] as const;

type ShownRow = Pick<ResponseTables['responses'], (typeof shownColumns)[number]>;

export function toKeptResponse(row: ShownRow): KeptResponse {
  return {
    id: row.id,
    status: row.status,
    head: JSON.parse(row.head) as Record<string, unknown>,
    output: JSON.parse(row.output) as KeptItem[],
    usage: parseOptional<JobUsage>(row.usage),
    error: parseOptional<ResponseFailure>(row.error),
    isBackground: row.is_background === 1,
    jobId: row.job_id ?? undefined,
    endSequence: row.end_sequence,
    createdAt: row.created_at,
  };
}

/** A response that has not ended. */
export function newRow({ tenant }: TenantScope, response: NewResponse): ResponseTables['responses'] {
  const input = JSON.stringify(response.input);
  return {
    tenant,
    id: response.id,
    status: 'queued',
    model: response.model,
    owner: response.owner ?? null,
    created_at: response.createdAt,
    expires_at: response.expiresAt,
    previous_id: response.previousId ?? null,
    head: JSON.stringify(response.head),
    input,
    output: '[]',
    usage: null,
    error: null,
    n_bytes: Buffer.byteLength(input),
    is_background: 0,
    request: null,
    job_id: null,
    n_runs: 0,
    end_sequence: 0,
  };
}

/** The columns that the end of a response changes, except n_bytes. */
export function endMembers({ status, output, usage, error }: ResponseEnd) {
  return { status, output: JSON.stringify(output), usage: optionalJson(usage), error: optionalJson(error), request: null };
}

function optionalJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function parseOptional<T>(text: string | null): T | undefined {
  return text === null ? undefined : (JSON.parse(text) as T);
}
