/** Errors inside an opened stream, in the shape of the OpenAI routes. */
import type { HttpError } from '../../../platform/http/errors.ts';

export function openaiErrorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

export function openaiErrorBody(error: HttpError): Record<string, unknown> {
  return {
    error: { message: error.message, type: openaiErrorType(error.status), param: error.param ?? null, code: error.code, ...error.extra },
    detail: error.message,
  };
}
