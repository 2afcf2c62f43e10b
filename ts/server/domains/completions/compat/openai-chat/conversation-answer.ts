/** The member `conversation_answer`: how the answer is stored in its conversation. */
import type { ConversationCall } from '../../answer/pending-answer.ts';
import { invalid } from '../../errors.ts';

const MEMBERS = ['id', 'parent_id', 'prefix'];
const ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Characters; with what is generated the answer still fits into a message. */
const MAX_PREFIX_LENGTH = 512 * 1024;

export function readAnswer(given: Record<string, unknown>): ConversationCall['answer'] {
  const unknown = Object.keys(given).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined)
    throw invalid('conversation_answer', `conversation_answer has a member that is not known; it takes ${MEMBERS.join(', ')}.`);
  const { id, parent_id: parentId, prefix = '' } = given;
  if (typeof prefix !== 'string' || prefix.length > MAX_PREFIX_LENGTH || prefix.includes('\0'))
    throw invalid(
      'conversation_answer.prefix',
      `conversation_answer.prefix must be a text without NUL of at most ${MAX_PREFIX_LENGTH} characters.`,
    );
  return {
    ...(id !== undefined && { id: readId('id', id) }),
    ...(parentId !== undefined && { parentId: readId('parent_id', parentId) }),
    prefix,
  };
}

function readId(name: string, value: unknown): string {
  if (typeof value === 'string' && ID.test(value)) return value;
  throw invalid(`conversation_answer.${name}`, `conversation_answer.${name} must be 1 to 64 letters, digits, _ and -.`);
}
