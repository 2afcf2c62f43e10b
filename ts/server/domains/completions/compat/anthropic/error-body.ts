/** Refusals as Anthropic's API writes them, with the code and the sentence of this server's own shape beside. */
import type { ErrorBody } from '../../../../platform/http/error-body.ts';

const text = { type: 'string' };

export const anthropicErrorBody: ErrorBody = {
  name: 'anthropic',
  schema: {
    type: 'object',
    required: ['type', 'error', 'detail'],
    properties: {
      type: { const: 'error' },
      error: { type: 'object', required: ['type', 'message'], properties: { type: text, message: text, code: text } },
      detail: text,
      status: { type: 'integer' },
    },
  },
  /** `code` is no member of Anthropic's; it stands there for clients that match on codes. */
  write: (error) => {
    const inner = { type: errorType(error.status), message: error.message, code: error.code };
    return { type: 'error', error: { ...inner, ...error.extra }, detail: error.message, ...error.extra };
  },
};

/** Types that Anthropic's API reference lists under "Errors". */
function errorType(status: number): string {
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
