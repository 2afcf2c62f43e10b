/** A conversation that somebody of the tenant shared by link. */
import { type Answer, call, request } from '../../api/call.ts';
import { type Message, newId } from '../thread/message.ts';

export interface SharedThread {
  share: string;
  title: string;
  model: string | null;
  messages: readonly Message[];
}

const FORMAT = { format: 'svc.conversations', version: 1 };

/** Throws Refusal. */
export async function fetchShared(share: string): Promise<SharedThread> {
  const messages: Message[] = [];
  let after: number | undefined;
  for (;;) {
    const page = await call('GET /api/v1/edge/conversations/shared', {
      query: { share, after },
    });
    messages.push(...page.data.map((message) => ({ ...message, conversation_id: '' })));
    if (page.next === undefined) return { share, title: page.title, model: page.model, messages };
    after = page.next;
  }
}

/** Makes it a conversation of the reader's own, which can be written on; returns its id. Throws Refusal. */
export async function copyShared({ title, model, messages }: SharedThread): Promise<string> {
  const id = newId();
  const conversation = { id, title, model, current_message_id: messages.at(-1)?.id ?? null, messages };
  const body = new Blob([JSON.stringify({ ...FORMAT, conversations: [conversation] })]);
  const response = await request('POST /api/v1/edge/conversations/import', { body });
  const { imported, failed } = (await response.json()) as Answer<'POST /api/v1/edge/conversations/import'>;
  if (imported !== 1) throw new Error(failed[0]?.reason ?? 'the copy was not stored');
  return id;
}
