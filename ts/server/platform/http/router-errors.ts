/** The router's own refusals, on every route or on those whose declaration says so. */
import { type CodeOf, defineErrors } from '../errors/define-errors.ts';
import { StorageError } from '../storage/index.ts';
import { HttpError } from './errors.ts';

export const routerErrors = defineErrors('http', {
  ambiguous_framing: [
    400,
    'Headers that two servers could read differently; the connection is closed.',
    'Send one Content-Length, or chunks, not both.',
  ],
  invalid_host: [400, 'The Host header does not name one host.', 'Send one host name, with a port where it is not the default.'],
  invalid_method: [400, 'The request method is not a valid token.', 'Write it in capital letters, as in GET.'],
  invalid_path: [400, 'The path holds an escape that is no UTF-8, or a NUL character.', 'Encode the path as UTF-8.'],
  invalid_json: [
    400,
    'The body is not JSON, not UTF-8, nested too deeply, or has too many values.',
    'Send one JSON value; `detail` says where reading ended.',
  ],
  invalid_request: [400, 'A parameter or a member is missing or wrong.', '`detail` names it and what is accepted.'],
  unsupported_member: [
    400,
    'A member that decides what the answer must be is not served; `param` names it.',
    'Leave it out; `detail` says what serves in its place.',
  ],
  invalid_multipart: [400, 'The body is no form, is cut off, or has a part without a name.', 'Send multipart/form-data.'],
  too_many_parts: [400, 'The form has more files or fields than the route takes.', 'Send fewer in one request.'],
  authentication_required: [401, 'No credential arrived.', 'Send a key or sign in.'],
  invalid_credential: [
    401,
    'The credential was refused; `reason` says why. A stream that is open when its credential is revoked ends with this in its last frame.',
    'Sign in again, or use another key.',
  ],
  invalid_api_key: [
    401,
    'The credential was refused; `reason` says why. A stream that is open when its credential is revoked ends with this in its last frame.',
    'Use another key.',
  ],
  forbidden: [403, 'The caller lacks the role.', 'Ask an administrator.'],
  insufficient_scope: [403, 'The credential lacks the scope.', 'Use a key that has it.'],
  origin_not_allowed: [
    403,
    'A web page of a foreign origin may not send this request.',
    'Name the origin in http.allowed_origins.',
  ],
  not_found: [404, 'Nothing is served at this path; `detail` says that no handler is registered.', 'Look at /docs.'],
  route_not_found: [404, 'The module in `module` serves nothing at this path.', 'Look at /docs.'],
  method_not_allowed: [405, 'The path serves other methods.', 'The Allow header lists them.'],
  length_required: [411, 'The public edge takes no chunked bodies.', 'Send a Content-Length.'],
  payload_too_large: [413, 'The body is over the limit of the route.', 'Send less.'],
  body_too_costly: [413, 'Reading the body takes too much memory or time.', 'Send less in one request.'],
  part_too_large: [413, 'A file or a field is over its limit.', 'Send a smaller one.'],
  unsupported_media_type: [
    415,
    'The body has another type than the route takes.',
    'Send Content-Type: application/json, or for a form multipart/form-data with a boundary.',
  ],
  host_not_allowed: [421, 'The Host is no name of this machine.', 'Name it in http.allowed_hosts.'],
  internal: [500, 'A fault of the server.', 'The log has it under the request id.'],
  method_not_implemented: [501, 'No path serves this method.', 'Use GET, POST, PUT, PATCH or DELETE.'],
  credential_check_unavailable: [503, 'The credential could not be checked.', 'Retry.'],
  draining: [503, 'The server is shutting down.', 'Retry elsewhere.'],
  module_unavailable: [503, 'No node runs the module that the path names.', 'Retry later, or switch its role on.'],
  forward_loop: [508, 'Nodes of the cluster send the request on to each other.', 'Retry.'],
  server_busy: [503, 'Too many large bodies are arriving at once.', 'Retry.'],
  storage_unavailable: [503, 'The database cannot be read or written now.', 'Retry after the time in Retry-After.'],
});

export type RouterErrorCode = CodeOf<typeof routerErrors>;

/** The other codes are mistakes of this program, or refusals that a service translates. */
const UNUSABLE = /^(storage_|write_conflict$|transaction_timeout$)/;

/** Whether the database does not work now: that is no defect of the server, and the same request may succeed shortly. */
export function isUnusableStorage(error: unknown): error is StorageError {
  return error instanceof StorageError && UNUSABLE.test(error.code);
}

/** Makes the answer of any route. The database's own words are for the log: they name files and servers. */
export function unusableStorage(cause: StorageError): HttpError {
  const detail =
    cause.outcome === 'unknown'
      ? 'The database stopped working while this was written, so it may be there or not: look before you retry.'
      : 'The database does not take the request now; nothing was changed. Retry in a moment.';
  const code = 'storage_unavailable';
  return new HttpError(routerErrors.statusOf(code), code, detail, { headers: { 'retry-after': '1' }, cause });
}
