/** Shapes of shared conversations. */
import Type, { type Static } from 'typebox';
import { named } from '../../../platform/schema/named.ts';
import { MessageShape, timeText, toMessageShape } from '../schemas.ts';
import type { Share, SharedPage } from './share.ts';

const GivenId = Type.String({ minLength: 1, maxLength: 200 });
const Time = Type.String({ format: 'date-time' });

export const ShareSelector = named('ShareSelector', Type.Object({ id: GivenId }, { additionalProperties: false }));
export const OptionalSelector = Type.Object({ id: Type.Optional(GivenId) });
export const SharedQuery = Type.Object({ share: GivenId, after: Type.Optional(Type.Integer({ minimum: 0 })) });
export const RevokeQuery = Type.Object({ share: GivenId }, { additionalProperties: false });

export const ShareShape = named(
  'ConversationShare',
  Type.Object({
    share: Type.String({ description: 'Whoever of the tenant has it may read.' }),
    conversation_id: Type.String(),
    message_id: Type.String({ description: 'The last message that readers see.' }),
    path: Type.String({ description: 'Of the page that shows it.' }),
    created_at: Time,
  }),
);

export const ShareList = named('ConversationShareList', Type.Object({ data: Type.Array(ShareShape) }));

/** Without the conversation's own id, which is nobody else's business. */
const SharedMessage = Type.Omit(MessageShape, ['conversation_id']);

export const SharedShape = named(
  'SharedConversation',
  Type.Object({
    title: Type.String(),
    model: Type.Union([Type.String(), Type.Null()]),
    shared_at: Time,
    data: Type.Array(SharedMessage),
    next: Type.Optional(Type.Integer({ description: 'A `seq`: pass it as `after` for more; absent when there is none.' })),
  }),
);

export function toShareShape({ id, conversationId, leafId, createdAt }: Share): Static<typeof ShareShape> {
  return {
    share: id,
    conversation_id: conversationId,
    message_id: leafId,
    path: `/chat#s=${id}`,
    created_at: timeText(createdAt),
  };
}

export function toSharedShape({ title, model, createdAt, messages, nextSeq }: SharedPage): Static<typeof SharedShape> {
  return {
    title,
    model: model ?? null,
    shared_at: timeText(createdAt),
    data: messages.map((message) => {
      const { conversation_id: _, citations, ...shown } = toMessageShape(message);
      return citations === undefined ? shown : { ...shown, citations: citations.map(withoutFileContent) };
    }),
    ...(nextSeq === undefined ? {} : { next: nextSeq }),
  };
}

/** Files of a conversation are its owner's alone: readers see which one an answer stands on, and nothing of what it says. */
function withoutFileContent(citation: unknown): unknown {
  if (typeof citation !== 'object' || citation === null || !('conversation_id' in citation)) return citation;
  const { n, source, page, sheet, slide } = citation as Record<string, unknown>;
  const place = Object.entries({ page, sheet, slide }).filter(([, value]) => value !== undefined);
  return { n, source, ...Object.fromEntries(place), text: '' };
}
