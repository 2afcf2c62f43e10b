/** Every refusal of the module, and what a client sees of it. */
import { type ErrorSpec, HttpError } from '../../platform/http/errors.ts';
import type { Reply, RequestContext } from '../../platform/http/route.ts';

const specs = {
  invalid_request: [400, 'A member of the request is missing, of the wrong type or out of range; the sentence names it.'],
  invalid_import: [400, 'The file is no export that can be read; the sentence says where it differs.'],
  conversation_not_found: [404, 'The caller has no conversation with this id.'],
  message_not_found: [404, 'The conversation has no message with this id.'],
  version_conflict: [
    409,
    'The conversation was changed by somebody else meanwhile; read it again. `version` is the current one.',
  ],
  message_conflict: [409, 'A message with this id and other content is there already; use another id.'],
  conversation_full: [409, 'The conversation has as many messages as are kept; begin another.'],
  too_many_conversations: [409, 'The caller has as many conversations as are kept; delete some.'],
  conversation_quota_exceeded: [429, 'The tenant’s conversations and artifacts would take more space than it has; delete some.'],
  share_not_found: [404, 'Nothing is shared under this id in the tenant; it may have been taken back or erased.'],
  artifact_not_found: [404, 'The caller has no artifact with this id, or not this version of it.'],
  artifact_full: [409, 'The artifact has as many versions as are kept; save a new one.'],
  too_many_artifacts: [409, 'The caller has as many artifacts as are kept; delete some.'],
  prompt_not_found: [404, 'There is no prompt with this id.'],
  too_many_prompts: [409, 'As many prompts as are kept are there already; delete some.'],
  storage_unavailable: [503, 'The database does not take the request now; retry.'],
} satisfies Record<string, [number, string]>;

export type ConversationErrorCode = keyof typeof specs;

/** Thrown by the service and the stores. */
export class ConversationError extends Error {
  override readonly name = 'ConversationError';
  readonly code: ConversationErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ConversationErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

export function conversationNotFound(): ConversationError {
  return new ConversationError('conversation_not_found', 'You have no conversation with this id; it may have been deleted.');
}

export function messageNotFound(member: string): ConversationError {
  return new ConversationError('message_not_found', `\`${member}\` names no message of this conversation.`);
}

/** Declarations for OpenAPI. */
export function errorSpecs(...codes: ConversationErrorCode[]): ErrorSpec[] {
  return codes.map((code) => ({ status: specs[code][0], code, meaning: specs[code][1] }));
}

/** What an answer that is stored in a conversation can be refused with. */
export const conversationErrors = errorSpecs(
  'conversation_not_found',
  'conversation_full',
  'conversation_quota_exceeded',
  'message_not_found',
  'message_conflict',
  'storage_unavailable',
);

type Handle<P, Q, B> = (context: RequestContext<P, Q, B>) => Promise<Reply>;

/** A handler whose refusals reach the client as what the table says. */
export function refusing<P, Q, B>(handle: Handle<P, Q, B>): Handle<P, Q, B> {
  return async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      throw toHttpError(error);
    }
  };
}

function toHttpError(error: unknown): unknown {
  if (error instanceof ConversationError)
    return new HttpError(specs[error.code][0], error.code, error.message, { extra: { ...error.details } });
  return error;
}
