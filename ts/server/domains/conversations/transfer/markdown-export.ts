/** Conversations as markdown for people: of each the branch that is shown. What messages hold is markdown already, and stays as it is. */
import type { Conversation, Message } from '../conversation.ts';
import type { Owner } from '../owner.ts';
import { timeText } from '../schemas.ts';
import type { ConversationService } from '../service.ts';
import { messagePages } from './json-export.ts';

const SPEAKERS = { system: 'System', developer: 'Developer', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

export async function* exportMarkdown(
  service: ConversationService,
  owner: Owner,
  conversations: AsyncIterable<Conversation>,
): AsyncGenerator<Uint8Array> {
  let separator = '';
  for await (const conversation of conversations) {
    yield Buffer.from(`${separator}# ${titleLine(conversation)}\n\n${timeText(conversation.createdAt)}\n`);
    separator = '\n---\n\n';
    const branch = await service.currentBranch(owner, conversation);
    for await (const messages of messagePages(service, owner, conversation))
      for (const message of messages) if (branch.has(message.id)) yield Buffer.from(section(message));
  }
}

function titleLine({ title }: Conversation): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line === '' ? 'Conversation' : line;
}

function section({ role, model, ts, content }: Message): string {
  const by = model === undefined ? '' : ` (${model.replace(/\s+/g, ' ')})`;
  return `\n## ${SPEAKERS[role]}${by}, ${timeText(ts)}\n\n${content.trimEnd()}\n`;
}
