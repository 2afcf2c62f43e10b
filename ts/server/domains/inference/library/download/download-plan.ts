/** Decides what to do with a server's answer. The decision is pure, so that every odd server is a test case. */
import { LibraryError } from '../files/library-error.ts';
import type { RemoteIdentity } from './partial-file.ts';
import type { RemoteFile } from './remote-file.ts';

export type DownloadPlan =
  /** Take the body; it continues at startBytes. */
  | { action: 'take'; startBytes: number; identity: RemoteIdentity }
  /** Everything is here already. */
  | { action: 'complete' }
  /** The bytes so far belong to another file, or the server cannot continue: ask again from the start. */
  | { action: 'restart'; reason: string }
  | { action: 'retry'; reason: string; pauseMs: number };

/** Throws LibraryError for answers that no other attempt will change. */
export function planResponse(
  response: Pick<RemoteFile, 'status' | 'header' | 'hub'>,
  known: RemoteIdentity,
  receivedBytes: number,
): DownloadPlan {
  const { status, header } = response;
  if (status === 206 && receivedBytes > 0) return planPartial(response, known, receivedBytes);
  if (status === 206) return { action: 'restart', reason: 'the server sent a part that nobody asked for' };
  if (status === 200) return planWhole(response, known);
  if (status === 416) return planUnsatisfiable(response, known, receivedBytes);
  if (status === 408 || status === 425 || status === 429 || status >= 500) {
    return { action: 'retry', reason: `the server answers ${status}`, pauseMs: 1000 * (Number(header('retry-after')) || 0) };
  }
  throw refusal(status);
}

function planWhole(response: Pick<RemoteFile, 'header' | 'hub'>, known: RemoteIdentity): DownloadPlan {
  checkEncoding(response.header('content-encoding'));
  const length = /^\d{1,15}$/.exec(response.header('content-length') ?? '')?.[0];
  const sizeBytes = length === undefined ? response.hub.sizeBytes : Number(length);
  if (response.hub.sizeBytes !== undefined && sizeBytes !== response.hub.sizeBytes) {
    return {
      action: 'retry',
      reason: `the storage sends ${sizeBytes} bytes, the hub promised ${response.hub.sizeBytes}`,
      pauseMs: 0,
    };
  }
  return { action: 'take', startBytes: 0, identity: identityOf(response, known.url, sizeBytes) };
}

function planPartial(response: Pick<RemoteFile, 'header' | 'hub'>, known: RemoteIdentity, receivedBytes: number): DownloadPlan {
  checkEncoding(response.header('content-encoding'));
  const range = parseContentRange(response.header('content-range'));
  if (range?.start !== receivedBytes) return { action: 'restart', reason: 'the server continued at the wrong place' };
  const identity = identityOf(response, known.url, range.sizeBytes ?? known.sizeBytes);
  if (isOther(identity, known)) return { action: 'restart', reason: 'the file changed on the server' };
  return { action: 'take', startBytes: receivedBytes, identity: { ...known, ...identity } };
}

/** Plans after an unsatisfiable range. Behind a complete file a server has no more range to give; it says how long the file is. */
function planUnsatisfiable(
  response: Pick<RemoteFile, 'header' | 'hub'>,
  known: RemoteIdentity,
  receivedBytes: number,
): DownloadPlan {
  const sizeBytes = parseContentRange(response.header('content-range'))?.sizeBytes ?? known.sizeBytes;
  const identity = identityOf(response, known.url, sizeBytes);
  if (sizeBytes === receivedBytes && !isOther(identity, known)) return { action: 'complete' };
  return { action: 'restart', reason: 'the server has no such range' };
}

function identityOf(
  { header, hub }: Pick<RemoteFile, 'header' | 'hub'>,
  url: string,
  sizeBytes: number | undefined,
): RemoteIdentity {
  const validator = header('etag') ?? header('last-modified');
  return {
    url,
    ...(validator && { validator }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(hub.sha256 && { sha256: hub.sha256 }),
  };
}

/** Two answers that name different sizes, hashes or validators are two files; what only one of them names tells nothing. */
function isOther(found: RemoteIdentity, known: RemoteIdentity): boolean {
  const differs = (key: 'validator' | 'sizeBytes' | 'sha256') =>
    found[key] !== undefined && known[key] !== undefined && found[key] !== known[key];
  // The same SHA-256 settles it: storage nodes of one hub may give one file several validators.
  if (found.sha256 !== undefined && found.sha256 === known.sha256) return differs('sizeBytes');
  return differs('sha256') || differs('sizeBytes') || differs('validator');
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding === '' || encoding === 'identity') return;
  throw new LibraryError(
    'refused_by_server',
    `the server compresses the file (${encoding}) although asked not to`,
    'use another mirror',
  );
}

function refusal(status: number): LibraryError {
  if (status === 401 || status === 403) {
    const remedy = 'accept the license on the model’s page and set HF_TOKEN to a token of that account';
    return new LibraryError('permission_needed', `the server answers ${status}: this file needs permission`, remedy);
  }
  if (status === 404 || status === 410)
    return new LibraryError(
      'not_found',
      `the server answers ${status}: it has no such file`,
      'check the spelling of the repository and the file',
    );
  return new LibraryError('refused_by_server', `the server answers ${status}`, 'check the address in a browser');
}

interface ContentRange {
  /** First byte; absent in the answer to an unsatisfiable range. */
  start?: number;
  end?: number;
  /** Absent when the server does not know the length. */
  sizeBytes?: number;
}

// A range with a length, a range of unknown length, or no range and a length: RFC 9110, section 14.4.
const pattern = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/;

/** Undefined for a header that is missing, malformed or contradicts itself. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const match = pattern.exec(header ?? '');
  if (!match) return undefined;
  const [, start, end, size] = match;
  const range: ContentRange = {
    ...(start !== undefined && end !== undefined && { start: Number(start), end: Number(end) }),
    ...(size !== undefined && size !== '*' && { sizeBytes: Number(size) }),
  };
  const isSound = range.start === undefined || range.end === undefined || range.start <= range.end;
  const isInside = range.end === undefined || range.sizeBytes === undefined || range.end < range.sizeBytes;
  return isSound && isInside ? range : undefined;
}
