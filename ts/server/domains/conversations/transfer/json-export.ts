/** Conversations as one JSON document, which can be imported again. Written piece by piece: nothing holds it whole. */
import type { Conversation } from '../conversation.ts';
import { isConversationError } from '../errors.ts';
import { MAX_PAGE_MESSAGES } from '../limits.ts';
import type { Owner } from '../owner.ts';
import { timeText, toConversationShape, toMessageShape } from '../schemas.ts';
import type { ConversationService } from '../service.ts';

/** The document says this in `format`, so that it is recognised. */
const EXPORT_FORMAT = 'svc.conversations';
const VERSION = 1;

export async function* exportJson(
  service: ConversationService,
  owner: Owner,
  conversations: AsyncIterable<Conversation>,
  now: number,
): AsyncGenerator<Uint8Array> {
  const head = { format: EXPORT_FORMAT, version: VERSION, exported_at: timeText(now) };
  yield bytes(`${JSON.stringify(head).slice(0, -1)},"conversations":[`);
  let separator = '\n';
  for await (const conversation of conversations) {
    yield bytes(`${separator}${JSON.stringify(toConversationShape(conversation)).slice(0, -1)},"messages":[`);
    yield* exportMessages(service, owner, conversation);
    yield bytes(']}');
    separator = ',\n';
  }
  yield bytes('\n]}\n');
}

async function* exportMessages(
  service: ConversationService,
  owner: Owner,
  conversation: Conversation,
): AsyncGenerator<Uint8Array> {
  let separator = '\n';
  for await (const messages of messagePages(service, owner, conversation)) {
    for (const message of messages) {
      yield bytes(`${separator}${JSON.stringify(toMessageShape(message))}`);
      separator = ',\n';
    }
  }
}

/** Messages as they are when the export comes to them; none of a conversation that was erased meanwhile. */
export async function* messagePages(service: ConversationService, owner: Owner, { id }: Conversation) {
  for (let after = 0; ; ) {
    const page = await service.messages(owner, id, { after, limit: MAX_PAGE_MESSAGES }).catch((error: unknown) => {
      if (isConversationError(error) && error.code === 'conversation_not_found') return undefined;
      throw error;
    });
    if (page === undefined) return;
    yield page.messages;
    after = page.messages.at(-1)?.seq ?? after;
    if (page.isWhole) return;
  }
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}
