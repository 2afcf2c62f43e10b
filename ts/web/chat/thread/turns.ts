/** Messages as the model is sent them. */
import type { ChatTurn } from '../answers/completion.ts';
import { type Message, questionFactsOf } from './message.ts';

export function turnOf(message: Message): ChatTurn {
  const { role, content } = message;
  const images = role === 'user' ? questionFactsOf(message).images : [];
  if (images.length === 0) return { role, content };
  const pictures = images.map((url) => ({ type: 'image_url', image_url: { url } }) as const);
  return { role, content: [...(content === '' ? [] : [{ type: 'text', text: content } as const]), ...pictures] };
}
