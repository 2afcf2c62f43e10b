/** What the module keeps: conversations, and their messages, which form a tree. Times are milliseconds since 1970. */

export const MESSAGE_ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
export type MessageRole = (typeof MESSAGE_ROLES)[number];

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Conversation {
  readonly id: string;
  readonly title: string;
  readonly folder: string | undefined;
  readonly isPinned: boolean;
  readonly isArchived: boolean;
  /** Neither listed nor found nor exported with the others, and erased some time after its last message. */
  readonly isTemporary: boolean;
  readonly model: string | undefined;
  readonly metadata: JsonObject | undefined;
  /** The last message of the branch that is shown. */
  readonly currentMessageId: string | undefined;
  readonly createdAt: number;
  /** Of the last message or title; sorting it into folders does not count. No message of it is later. */
  readonly updatedAt: number;
  /** Counts all changes. */
  readonly version: number;
  readonly messageCount: number;
}

/** What a list has of one: not `metadata`, which may be long. */
export type ListedConversation = Omit<Conversation, 'metadata'>;

export interface Message {
  readonly id: string;
  readonly conversationId: string;
  /** Counts the messages of a conversation from 1. */
  readonly seq: number;
  /** The message that this one answers or follows; undefined for the first of a branch that starts anew. */
  readonly parentId: string | undefined;
  readonly role: MessageRole;
  readonly content: string;
  readonly ts: number;
  readonly model: string | undefined;
  readonly citations: readonly unknown[] | undefined;
  readonly metadata: JsonObject | undefined;
}

export interface NewConversation {
  readonly id: string;
  readonly title: string;
  readonly folder?: string | undefined;
  readonly isPinned?: boolean;
  readonly isArchived?: boolean;
  readonly isTemporary?: boolean;
  readonly model?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  readonly createdAt: number;
  /** Of a temporary one. */
  readonly expiresAt?: number | undefined;
}

/** Undefined members stay as they are; null removes. */
export interface ConversationChanges {
  readonly title?: string | undefined;
  readonly folder?: string | null | undefined;
  readonly isPinned?: boolean | undefined;
  readonly isArchived?: boolean | undefined;
  /** False: it is kept. One with messages stays temporary. */
  readonly isTemporary?: false | undefined;
  readonly model?: string | null | undefined;
  readonly metadata?: JsonObject | null | undefined;
  readonly currentMessageId?: string | undefined;
}

export interface NewMessage {
  readonly id: string;
  /** Undefined: the last message of the branch that is shown. Null: none. */
  readonly parentId?: string | null | undefined;
  readonly role: MessageRole;
  readonly content: string;
  readonly ts: number;
  readonly model?: string | undefined;
  readonly citations?: readonly unknown[] | undefined;
  readonly metadata?: JsonObject | undefined;
}
