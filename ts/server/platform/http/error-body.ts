/** The body shapes of refusals: flat, OpenAI's and Anthropic's. All carry the code and a sentence in `detail`. */
import type { HttpError } from './errors.ts';
import type { ErrorShape } from './route.ts';

export function errorBody(error: HttpError, shape: ErrorShape, path: string): Record<string, unknown> {
  if (shape === 'openai') return openaiBody(error);
  if (shape === 'anthropic') return anthropicBody(error);
  return { error: error.code, detail: error.message, path, ...error.extra };
}

/** The shape for a path that no route claims. */
export function shapeOfPath(path: string): ErrorShape {
  if (path === '/v1/messages' || path.startsWith('/v1/messages/')) return 'anthropic';
  return path.startsWith('/v1/') ? 'openai' : 'flat';
}

function openaiBody(error: HttpError): Record<string, unknown> {
  const inner = { message: error.message, type: openaiType(error.status), param: error.param ?? null, code: error.code };
  return { error: { ...inner, ...error.extra }, detail: error.message, ...error.extra };
}

/** Anthropic's envelope; `code` is ours, for clients that match on codes. */
function anthropicBody(error: HttpError): Record<string, unknown> {
  const inner = { type: anthropicType(error.status), message: error.message, code: error.code };
  return { type: 'error', error: { ...inner, ...error.extra }, detail: error.message, ...error.extra };
}

/** Types that OpenAI's API reference lists for its error object. */
export function openaiType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

/** Types that Anthropic's API reference lists under "Errors". */
export function anthropicType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    case 429:
      return 'rate_limit_error';
    case 503:
      return 'overloaded_error';
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error';
  }
}
