/** Refusals in SCIM's shape (RFC 7644 section 3.12), with the code and the sentence that every error of the server carries. */
import type { ErrorBody } from '../../platform/http/error-body.ts';
import type { HttpError } from '../../platform/http/errors.ts';
import { scimError } from './errors.ts';
import { MESSAGES } from './resource/attribute.ts';

type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'mutability' | 'noTarget' | 'tooMany';

const TYPES: Readonly<Record<string, string>> = {
  name_taken: 'uniqueness',
  group_exists: 'uniqueness',
  invalid_json: 'invalidSyntax',
  invalid_request: 'invalidValue',
  weak_password: 'invalidValue',
};

export function invalidScim(scimType: ScimType, sentence: string): ReturnType<typeof scimError> {
  return scimError('invalid_request', sentence, { extra: { scimType } });
}

export const scimErrorBody: ErrorBody = {
  name: 'scim',
  schema: {
    type: 'object',
    required: ['schemas', 'status', 'detail', 'error'],
    properties: {
      schemas: { type: 'array', items: { type: 'string' } },
      status: { type: 'string', description: 'The status of the answer.' },
      scimType: { type: 'string', description: 'RFC 7644, table 9.' },
      detail: { type: 'string', description: 'Sentence for people.' },
      error: { type: 'string', description: 'Short code to match on.' },
    },
  },
  write: ({ status, code, message, extra }: HttpError) => {
    const scimType = extra['scimType'] ?? TYPES[code];
    return {
      schemas: [`${MESSAGES}Error`],
      status: String(status),
      ...(scimType !== undefined && { scimType }),
      detail: message,
      error: code,
    };
  },
};
