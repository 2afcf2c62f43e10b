/** Refusals as OpenAI's API writes them, with the code and the sentence of this server's own shape beside. */
import type { ErrorBody } from './error-body.ts';

const text = { type: 'string' };

export const openaiErrorBody: ErrorBody = {
  name: 'openai',
  schema: {
    type: 'object',
    required: ['error', 'detail'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type', 'code'],
        properties: { message: text, type: text, param: { type: ['string', 'null'] }, code: text },
      },
      detail: text,
      status: { type: 'integer' },
    },
  },
  write: (error) => {
    const inner = { message: error.message, type: errorType(error.status), param: error.param ?? null, code: error.code };
    return { error: { ...inner, ...error.extra }, detail: error.message, ...error.extra };
  },
  // Clients of this API look for a member `error` in the data of any event.
  writeFrame(error, path) {
    return `data: ${JSON.stringify(this.write(error, path))}\n\n`;
  },
};

/** Types that OpenAI's API reference lists for its error object. */
function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
