/** The export files that are understood, one conversation of them at a time. */
import { createHash } from 'node:crypto';
import { MESSAGE_ROLES, type MessageRole } from '../conversation.ts';
import { MAX_CONTENT_LENGTH, MAX_FOLDER_LENGTH, MAX_JSON_LENGTH, MAX_MODEL_LENGTH, MAX_TITLE_LENGTH } from '../limits.ts';
import {
  arrayOf,
  type ImportedConversation,
  type ImportedNode,
  idOf,
  isoTimeOf,
  objectOf,
  secondsOf,
  textOf,
  type Unknown,
} from './imported-conversation.ts';
import { orderNodes } from './message-tree.ts';

interface Source {
  id: unknown;
  title: unknown;
  createdAt: number | undefined;
  nodes: readonly ImportedNode[];
  current: unknown;
  more?: Partial<ImportedConversation['conversation']>;
}

/** Undefined: it is a conversation of no format that is known here. Any value may come. */
export function readConversation(value: unknown, now: number): ImportedConversation | undefined {
  const given = objectOf(value);
  if (given === undefined) return undefined;
  const source = readChatGpt(given) ?? readOpenWebUi(given) ?? readOwn(given);
  return source && toImported(source, given, now);
}

/** ChatGPT's conversations.json: a `mapping` of nodes, times in seconds. */
function readChatGpt(given: Unknown): Source | undefined {
  const mapping = objectOf(given['mapping']);
  if (mapping === undefined) return undefined;
  const nodes = Object.entries(mapping).flatMap(([key, value]): ImportedNode[] => {
    const node = objectOf(value);
    const id = idOf(key);
    return id === undefined
      ? []
      : [{ id, parentId: idOf(node?.['parent']), message: chatGptMessage(objectOf(node?.['message'])) }];
  });
  return {
    id: given['conversation_id'] ?? given['id'],
    title: given['title'],
    createdAt: secondsOf(given['create_time']),
    nodes,
    current: given['current_node'],
    more: { isArchived: given['is_archived'] === true, model: textOf(given['default_model_slug'], MAX_MODEL_LENGTH) },
  };
}

function chatGptMessage(message: Unknown | undefined): ImportedNode['message'] {
  const metadata = objectOf(message?.['metadata']);
  const role = roleOf(objectOf(message?.['author'])?.['role']);
  const content = chatGptText(objectOf(message?.['content']));
  if (role === undefined || content === '' || metadata?.['is_visually_hidden_from_conversation'] === true) return undefined;
  return { role, content, ts: secondsOf(message?.['create_time']), model: textOf(metadata?.['model_slug'], MAX_MODEL_LENGTH) };
}

/** Parts are text, or objects that stand for images and recordings, whose files are no part of this one. */
function chatGptText(content: Unknown | undefined): string {
  const parts = arrayOf(content?.['parts']).map((part) => (typeof part === 'string' ? part : (objectOf(part)?.['text'] ?? '')));
  const texts = [...parts, content?.['text']].filter((part) => typeof part === 'string' && part !== '');
  return textOf(texts.join('\n\n'), MAX_CONTENT_LENGTH) ?? '';
}

/** Open WebUI's export: `chat.history.messages` by id, times in seconds. */
function readOpenWebUi(given: Unknown): Source | undefined {
  const chat = objectOf(given['chat']);
  const history = objectOf(chat?.['history']);
  const messages = objectOf(history?.['messages']);
  if (chat === undefined || messages === undefined) return undefined;
  const nodes = Object.entries(messages).flatMap(([key, value]): ImportedNode[] => {
    const message = objectOf(value);
    const id = idOf(key);
    const role = roleOf(message?.['role']);
    const content = textOf(message?.['content'], MAX_CONTENT_LENGTH);
    if (id === undefined || message === undefined) return [];
    const model = textOf(message['model'], MAX_MODEL_LENGTH);
    const ts = secondsOf(message['timestamp']);
    return [{ id, parentId: idOf(message['parentId']), message: role && content ? { role, content, ts, model } : undefined }];
  });
  return {
    id: given['id'],
    title: given['title'] ?? chat['title'],
    createdAt: secondsOf(given['created_at']),
    nodes,
    current: history?.['currentId'],
    more: { isArchived: given['archived'] === true, isPinned: given['pinned'] === true },
  };
}

/** Reads what this program exported. */
function readOwn(given: Unknown): Source | undefined {
  if (!Array.isArray(given['messages'])) return undefined;
  const nodes = given['messages'].flatMap((value: unknown): ImportedNode[] => {
    const message = objectOf(value);
    const id = idOf(message?.['id']);
    const role = roleOf(message?.['role']);
    const content = textOf(message?.['content'], MAX_CONTENT_LENGTH);
    if (message === undefined || id === undefined || role === undefined || content === undefined) return [];
    const citations = keepShort(message['citations']);
    const own = {
      role,
      content,
      ts: isoTimeOf(message['ts']),
      model: textOf(message['model'], MAX_MODEL_LENGTH),
      citations: Array.isArray(citations) ? (citations as unknown[]) : undefined,
      metadata: objectOf(keepShort(message['metadata'])),
    };
    return [{ id, parentId: idOf(message['parent_id']), message: own }];
  });
  return {
    id: given['id'],
    title: given['title'],
    createdAt: isoTimeOf(given['created_at']),
    nodes,
    current: given['current_message_id'],
    more: {
      isArchived: given['archived'] === true,
      isPinned: given['pinned'] === true,
      folder: textOf(given['folder'], MAX_FOLDER_LENGTH),
      model: textOf(given['model'], MAX_MODEL_LENGTH),
      metadata: objectOf(keepShort(given['metadata'])),
    },
  };
}

function toImported(
  { id, title, createdAt, nodes, current, more = {} }: Source,
  given: Unknown,
  now: number,
): ImportedConversation {
  const earliest = Math.min(...nodes.slice(0, 1).map((node) => node.message?.ts ?? now), now);
  const begun = Math.min(createdAt ?? earliest, now);
  const isKnown = createdAt !== undefined || nodes[0]?.message?.ts !== undefined;
  const { messages, kept } = orderNodes(nodes, begun, isKnown);
  const currentId = idOf(current);
  const wanted = currentId === undefined ? undefined : kept.get(currentId);
  const conversation = {
    ...more,
    id: idOf(id) ?? hashOf(given),
    title: textOf(title, MAX_TITLE_LENGTH) ?? '',
    createdAt: begun,
  };
  const isThere = messages.some((message) => message.id === wanted);
  return { conversation, messages, currentMessageId: isThere ? wanted : messages.at(-1)?.id };
}

function roleOf(value: unknown): MessageRole | undefined {
  return MESSAGE_ROLES.find((role) => role === value);
}

function keepShort(value: unknown): unknown {
  return value !== undefined && value !== null && JSON.stringify(value).length <= MAX_JSON_LENGTH ? value : undefined;
}

/** A conversation without an id has one that the same file brings again. */
function hashOf(given: Unknown): string {
  return createHash('sha256').update(JSON.stringify(given)).digest('base64url');
}
