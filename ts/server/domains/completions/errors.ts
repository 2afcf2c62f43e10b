/** Refusals of the module's own, and those that its services repeat. Worker threads read requests by it, so what is imported here is pure. */
import { type CodeOf, defineErrors } from '../../platform/errors/define-errors.ts';
import { DomainError, type DomainErrorOptions } from '../../platform/errors/domain-error.ts';
import type { InferenceErrorCode } from '../inference/index.ts';

export const ownErrors = defineErrors('completions', {
  response_not_found: [
    404,
    'No response of this id is kept for this tenant: it has expired, was deleted or never kept.',
    'Send the earlier items in `input`, with `store` where it is to be kept.',
  ],
  previous_response_not_found: [
    400,
    'A response that is to be continued is not kept any more.',
    'Send the earlier items in `input`.',
  ],
  insufficient_scope: [
    403,
    'The credential lacks the scope that `knowledge` (knowledge:read), `conversation_id`, `memory` (account:manage) or X-Svc-Edge-Tools (tools:use) needs.',
    'Use a key that has it.',
  ],
  stream_exists: [409, 'An answer with the id in `conversation_answer.id` is being made or has just been.', 'Follow its stream.'],
  stream_not_found: [
    404,
    'The caller has no such stream on this node: it ended some time ago, or the node was restarted.',
    'Read the conversation, which has a stored answer.',
  ],
  stream_events_gone: [
    410,
    'Events behind this one are not kept any more.',
    'Read the conversation, which has a complete answer.',
  ],
  answer_cancelled: [499, 'The answer was cancelled by request, which only its stream tells.', 'Ask again.'],
  answer_abandoned: [499, 'Nobody read the answer for too long, which only its stream tells.', 'Ask again, and read the stream.'],
  node_stopping: [503, 'The node stops, which only the stream of an answer tells.', 'Ask again when the node has started.'],
  conversations_unavailable: [
    503,
    'The module that has the conversations does not run on this node.',
    'Leave `conversation_id` out.',
  ],
  tools_unavailable: [503, 'The module that runs tools does not run on this node.', 'Leave the header X-Svc-Edge-Tools out.'],
  memory_unavailable: [503, 'The module that has the memories does not run on this node.', 'Leave `memory` out.'],
  knowledge_unavailable: [503, 'The module that has the knowledge bases does not run on this node.', 'Leave `knowledge` out.'],
});

type OwnCode = CodeOf<typeof ownErrors>;
type CompletionErrorCode = OwnCode | InferenceErrorCode;
/** An error with a code of this module, or of one that it stands on. */
export type CompletionError = DomainError;

export function completionError(code: CompletionErrorCode, sentence: string, options: DomainErrorOptions = {}): CompletionError {
  return new DomainError(code, sentence, options);
}

/** A member of a request that cannot be taken. */
export function invalid(param: string, sentence: string): CompletionError {
  return completionError('invalid_request', sentence, { param });
}
