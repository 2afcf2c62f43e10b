/** Puts passages of knowledge bases into the messages of a chat: instructions to the system, passages in front of the question. */
import type { KnowledgeContext } from '../../data/index.ts';
import { type Members, messageText } from '../compat/members.ts';

/** Texts of the user's messages, the last one last. */
export function userTurns(messages: readonly Members[]): string[] {
  return messages.filter(({ role }) => role === 'user').map(({ content }) => messageText(content));
}

export function withKnowledge(
  messages: readonly Members[],
  { instruction, passages, ownWords }: Pick<KnowledgeContext, 'instruction' | 'passages' | 'ownWords'>,
): Members[] {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const unmarked = messages.map((message) => withoutMarks(asModelSaid(message, ownWords)));
  const asked = unmarked.map((message, i) => (i === last && passages !== '' ? withText(message, `${passages}\n\n`) : message));
  if (instruction === '') return asked;
  const [first, ...rest] = asked;
  // Many templates take one system message, and only in the first place.
  if (first?.['role'] !== 'system') return [{ role: 'system', content: instruction }, ...asked];
  return [{ ...first, content: `${messageText(first['content'])}\n\n${instruction}` }, ...rest];
}

function asModelSaid(message: Members, ownWords: KnowledgeContext['ownWords']): Members {
  const { role, content } = message;
  if (role !== 'assistant' || typeof content !== 'string') return message;
  const own = ownWords(content);
  return own === content ? message : { ...message, content: own };
}

/** Numbers of an earlier answer stand for other passages. */
function withoutMarks(message: Members): Members {
  const { role, content } = message;
  if (role !== 'assistant' || typeof content !== 'string' || content.includes('`')) return message;
  const text = content.replace(/[ \t]?\[\d{1,3}(?:, ?\d{1,3}){0,9}\]/g, '');
  return text === content ? message : { ...message, content: text };
}

function withText(message: Members, text: string): Members {
  const { content } = message;
  return {
    ...message,
    content: Array.isArray(content) ? [{ type: 'text', text }, ...content] : `${text}${messageText(content)}`,
  };
}
