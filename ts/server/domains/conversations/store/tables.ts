/** The tables of the module, and their rows as the module sees them. */
import type { Generated, Selectable } from 'kysely';
import type { Conversation, JsonObject, ListedConversation, Message, MessageRole } from '../conversation.ts';

export interface ConversationTables {
  conversations: ConversationTable;
  conversation_messages: MessageTable;
  conversation_terms: TermTable;
  conversation_shares: ShareTable;
  artifacts: ArtifactTable;
  artifact_versions: ArtifactVersionTable;
  artifact_shares: ArtifactShareTable;
  prompts: PromptTable;
}

interface ConversationTable {
  tenant: string;
  /** Stands for the conversation in the other tables; no client sees it. */
  no: Generated<number>;
  /** Empty for what was erased and waits to be removed. */
  subject: string;
  id: string;
  title: string;
  folder: string | null;
  pinned: number;
  archived: number;
  temporary: number;
  model: string | null;
  metadata: string | null;
  current_message_id: string | null;
  created_at: number;
  updated_at: number;
  expires_at: number | null;
  version: number;
  last_seq: number;
  /** Under which its files lie; null: it never had one. */
  files_key: string | null;
  /** Of its texts and those of its messages. */
  bytes: number;
}

export interface MessageTable {
  tenant: string;
  conversation_no: number;
  seq: number;
  id: string;
  parent_id: string | null;
  role: string;
  content: string;
  model: string | null;
  citations: string | null;
  metadata: string | null;
  ts: number;
}

/** In which messages of a block a term stands: bit n is message `block * BLOCK_MESSAGES + n`; message 0 is the title. */
interface TermTable {
  tenant: string;
  conversation_no: number;
  block: number;
  term: string;
  bits: number;
}

/** What the readers of a link see: the branch that ends at `leaf_id`. */
interface ShareTable {
  tenant: string;
  id: string;
  conversation_no: number;
  leaf_id: string;
  created_at: number;
}

export interface ArtifactTable {
  tenant: string;
  /** Stands for the artifact in the other tables; no client sees it. */
  no: Generated<number>;
  subject: string;
  id: string;
  /** It is erased with its conversation. */
  conversation_no: number | null;
  title: string;
  kind: string;
  language: string | null;
  created_at: number;
  updated_at: number;
  last_version: number;
  /** Of all versions. */
  bytes: number;
}

interface ArtifactVersionTable {
  tenant: string;
  artifact_no: number;
  version: number;
  content: string;
  message_id: string | null;
  created_at: number;
}

interface ArtifactShareTable {
  tenant: string;
  id: string;
  artifact_no: number;
  version: number;
  created_at: number;
}

/** The subject `tenant` has those of everybody; no caller is named so. */
interface PromptTable {
  tenant: string;
  subject: string;
  id: string;
  title: string;
  content: string;
  created_at: number;
  updated_at: number;
}

export type ConversationRow = Selectable<ConversationTable>;

/** All that a list shows: every column that is short. */
export const LISTED_COLUMNS = [
  'id',
  'title',
  'folder',
  'pinned',
  'archived',
  'temporary',
  'model',
  'current_message_id',
  'created_at',
  'updated_at',
  'version',
  'last_seq',
] as const satisfies readonly (keyof ConversationTable)[];

export function toConversation(row: ConversationRow): Conversation {
  return { ...toListedConversation(row), metadata: parseObject(row.metadata) };
}

export function toListedConversation(row: Pick<ConversationRow, (typeof LISTED_COLUMNS)[number]>): ListedConversation {
  return {
    id: row.id,
    title: row.title,
    folder: row.folder ?? undefined,
    isPinned: row.pinned === 1,
    isArchived: row.archived === 1,
    isTemporary: row.temporary === 1,
    model: row.model ?? undefined,
    currentMessageId: row.current_message_id ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    version: row.version,
    messageCount: row.last_seq,
  };
}

export function toMessage(conversationId: string, row: MessageTable): Message {
  return {
    id: row.id,
    conversationId,
    seq: row.seq,
    parentId: row.parent_id ?? undefined,
    role: row.role as MessageRole,
    content: row.content,
    ts: row.ts,
    model: row.model ?? undefined,
    citations: row.citations === null ? undefined : (JSON.parse(row.citations) as unknown[]),
    metadata: parseObject(row.metadata),
  };
}

function parseObject(text: string | null): JsonObject | undefined {
  return text === null ? undefined : (JSON.parse(text) as JsonObject);
}
