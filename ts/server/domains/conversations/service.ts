/** Conversations of one caller. Everything is the owner's own: what belongs to others is not found. Throws ConversationError and StorageError. */
import { randomBytes, randomUUID } from 'node:crypto';
import { BodyBudget } from '../../platform/http/body/body-collector.ts';
import type { Storage } from '../../platform/storage/index.ts';
import type {
  Conversation,
  ConversationChanges,
  ListedConversation,
  Message,
  MessageRole,
  NewConversation,
  NewMessage,
} from './conversation.ts';
import { conversationError, conversationNotFound } from './errors.ts';
import { MAX_IMPORTS_BYTES, MAX_JSON_LENGTH } from './limits.ts';
import type { Owner } from './owner.ts';
import { HitCollector, type SearchHit } from './search/hit-collector.ts';
import { SearchQuery } from './search/search-query.ts';
import { DEFAULT_TENANT_BYTES } from './settings.ts';
import { type ConversationCursor, type ConversationFilter, ConversationStore } from './store/conversation-store.ts';
import { ErasureStore, type FilesEraser } from './store/erasure-store.ts';
import { type Folder, FolderStore } from './store/folder-store.ts';
import { ImportStore } from './store/import-store.ts';
import { type Appended, type MessageRange, MessageStore } from './store/message-store.ts';
import { SearchStore } from './store/search-store.ts';
import { TenantSpace } from './store/tenant-space.ts';
import { ConversationReader } from './transfer/conversation-reader.ts';
import { UNDATED } from './transfer/imported-conversation.ts';
import { type ImportReport, importFile } from './transfer/importer.ts';

export type ConversationInput = Partial<Omit<NewConversation, 'createdAt' | 'expiresAt'>>;
export type MessageInput = Omit<NewMessage, 'id' | 'ts'> & { id?: string | undefined };

/** A message as the owner wrote it. */
interface SaidMessage {
  readonly id: string;
  readonly seq: number;
  readonly text: string;
  readonly at: number;
}

interface SaidConversation {
  readonly id: string;
  readonly messages: readonly SaidMessage[];
}

const EXPORT_PAGE = 100;

export interface ServiceOptions {
  readonly storage: Storage;
  /** Erases what lies elsewhere of conversations that are erased. */
  readonly files?: FilesEraser;
  /** How long a temporary conversation is kept after its last message. */
  readonly temporaryMs: number;
  /** The most that all conversations and artifacts of a tenant take. */
  readonly tenantBytes?: number;
  readonly now?: () => number;
}

export class ConversationService {
  readonly space: TenantSpace;
  readonly #conversations: ConversationStore;
  readonly #messages: MessageStore;
  readonly #erasure: ErasureStore;
  readonly #folders: FolderStore;
  readonly #search: SearchStore;
  readonly #imports: ImportStore;
  readonly #reader = new ConversationReader();
  readonly #importBudget = new BodyBudget(MAX_IMPORTS_BYTES);
  readonly #temporaryMs: number;
  readonly #now: () => number;

  constructor({ storage, files, temporaryMs, tenantBytes = DEFAULT_TENANT_BYTES, now = Date.now }: ServiceOptions) {
    this.space = new TenantSpace(storage, tenantBytes);
    this.#conversations = new ConversationStore(storage, this.space);
    this.#messages = new MessageStore(storage, this.space);
    this.#erasure = new ErasureStore(storage, files);
    this.#folders = new FolderStore(storage);
    this.#search = new SearchStore(storage);
    this.#imports = new ImportStore(storage, this.space);
    this.#temporaryMs = temporaryMs;
    this.#now = now;
  }

  /** With the id of one that is there, that one is returned as it is. */
  async create(owner: Owner, input: ConversationInput): Promise<{ conversation: Conversation; isNew: boolean }> {
    const createdAt = this.#now();
    const checked = checkTexts(input);
    return await this.#conversations.insert(owner, {
      ...checked,
      id: input.id ?? randomUUID(),
      title: checked.title ?? '',
      createdAt,
      expiresAt: input.isTemporary === true ? createdAt + this.#temporaryMs : undefined,
    });
  }

  /** Throws `conversation_quota_exceeded` where the tenant has no space for so many bytes. */
  async requireCapacity(owner: Owner, bytes: number): Promise<void> {
    await this.space.requireCapacity(owner, bytes);
  }

  async get(owner: Owner, id: string): Promise<Conversation> {
    const conversation = await this.#conversations.find(owner, id);
    if (conversation === undefined) throw conversationNotFound();
    return conversation;
  }

  /** Newest first, without temporary ones. */
  async list(owner: Owner, filter: ConversationFilter, limit: number, after?: ConversationCursor): Promise<ListedConversation[]> {
    return await this.#conversations.list(owner, filter, limit, after);
  }

  async update(owner: Owner, id: string, changes: ConversationChanges, expectedVersion?: number): Promise<Conversation> {
    return await this.#conversations.update(owner, id, checkTexts(changes), this.#now(), expectedVersion);
  }

  async listFolders(owner: Owner): Promise<Folder[]> {
    return await this.#folders.list(owner);
  }

  /** Null takes the conversations out of it. Returns how many there were. */
  async renameFolder(owner: Owner, folder: string, name: string | null): Promise<number> {
    const checked = checkTexts({ folder: name });
    return await this.#folders.rename(owner, folder, checked.folder);
  }

  /** Stores a message once for each id. By default it follows the last one of the branch that is shown. */
  async append(owner: Owner, conversationId: string, input: MessageInput, expectedVersion?: number): Promise<Appended> {
    const ts = this.#now();
    const message = { ...checkTexts(input), id: input.id ?? randomUUID(), ts };
    return await this.#messages.append(owner, conversationId, message, { expectedVersion, expiresAt: ts + this.#temporaryMs });
  }

  /** Stores all of them or none, each behind the one before unless it names another. */
  async appendAll(owner: Owner, conversationId: string, inputs: readonly MessageInput[]): Promise<Appended[]> {
    const ts = this.#now();
    const messages = inputs.map((input) => ({ ...checkTexts(input), id: input.id ?? randomUUID(), ts }));
    return await this.#messages.appendAll(owner, conversationId, messages, { expiresAt: ts + this.#temporaryMs });
  }

  async hasMessage(owner: Owner, conversationId: string, id: string): Promise<boolean> {
    return await this.#messages.has(owner, conversationId, id);
  }

  async messages(owner: Owner, conversationId: string, range: MessageRange): Promise<{ messages: Message[]; isWhole: boolean }> {
    return await this.#messages.list(owner, conversationId, range);
  }

  /** All of them, newest first, as they are when the reader comes to them; or the one. */
  async *each(owner: Owner, id?: string): AsyncGenerator<Conversation> {
    if (id !== undefined) return yield await this.get(owner, id);
    for (let last: ListedConversation | undefined; ; ) {
      const page = await this.#conversations.list(owner, {}, EXPORT_PAGE, last);
      for (const listed of page) {
        const conversation = await this.#conversations.find(owner, listed.id);
        if (conversation !== undefined) yield conversation;
      }
      last = page.at(-1);
      if (page.length < EXPORT_PAGE) return;
    }
  }

  /**
   * Reads what the owner wrote in conversations whose last message lies after `after` and not after `until`, newest first: messages of the branch that is shown.
   * Temporary conversations are left out, and imported messages of which nobody knows when they were said.
   */
  async *said(owner: Owner, { after, until }: { after: number; until: number }): AsyncGenerator<SaidConversation> {
    let last: ConversationCursor | undefined = { updatedAt: until + 1, id: '' };
    while (last !== undefined) {
      const page: ListedConversation[] = await this.#conversations.list(owner, {}, EXPORT_PAGE, last);
      for (const listed of page) {
        if (listed.updatedAt <= after) return;
        const messages = await this.#saidIn(owner, listed.id);
        if (messages.length > 0) yield { id: listed.id, messages };
      }
      last = page.length < EXPORT_PAGE ? undefined : page.at(-1);
    }
  }

  async #saidIn(owner: Owner, id: string): Promise<SaidMessage[]> {
    const conversation = await this.#conversations.find(owner, id);
    if (conversation === undefined) return [];
    const shown = await this.currentBranch(owner, conversation);
    const said: SaidMessage[] = [];
    for (let after = 0, isWhole = false; !isWhole; ) {
      const page = await this.#messages.list(owner, id, { after, limit: EXPORT_PAGE });
      for (const { id: messageId, seq, role, content, ts, metadata } of page.messages)
        if (role === 'user' && shown.has(messageId) && metadata?.['undated'] !== UNDATED.undated)
          said.push({ id: messageId, seq, text: content, at: ts });
      after = page.messages.at(-1)?.seq ?? after;
      isWhole = page.isWhole;
    }
    return said;
  }

  /** Stores the conversations of an export file as it arrives. Those whose ids are there already stay as they are. */
  async import(owner: Owner, body: AsyncIterable<Uint8Array>): Promise<ImportReport> {
    return await importFile({ store: this.#imports, reader: this.#reader, budget: this.#importBudget }, owner, body, this.#now());
  }

  /** Ends the thread that reads imports. */
  async close(): Promise<void> {
    await this.#reader.close();
  }

  /** Ids of the messages of the branch that is shown, in their order. */
  async currentBranch(owner: Owner, { id, currentMessageId }: Conversation): Promise<Set<string>> {
    const links = new Map((await this.#messages.listLinks(owner, id)).map((link) => [link.id, link.parent_id]));
    const branch: string[] = [];
    let next: string | null | undefined = currentMessageId;
    while (typeof next === 'string' && branch.length <= links.size) {
      branch.push(next);
      next = links.get(next);
    }
    return new Set(branch.reverse());
  }

  /** Reads under which key its files lie; undefined: it has none. */
  async filesKey(owner: Owner, id: string): Promise<string | undefined> {
    return await this.#conversations.filesKey(owner, id);
  }

  /** The same; one without gets a key, which nobody guesses. */
  async makeFilesKey(owner: Owner, id: string): Promise<string> {
    const there = await this.#conversations.filesKey(owner, id);
    return there ?? (await this.#conversations.makeFilesKey(owner, id, randomBytes(16).toString('hex')));
  }

  /** Erases one conversation, or all of the owner's, and returns how many. Resolves when no row is left. */
  async erase(owner: Owner, id?: string): Promise<number> {
    const count = await this.#erasure.detach(owner, id);
    if (id !== undefined && count === 0) throw conversationNotFound();
    if (count > 0) await this.#erasure.removeDetached(owner);
    return count;
  }

  /** Messages and titles that have all words, newest first. */
  async search(owner: Owner, text: string): Promise<SearchHit[]> {
    const query = new SearchQuery(text);
    const collector = new HitCollector(query);
    if (query.terms.length > 0) await this.#search.search(owner, query.terms, collector);
    return collector.hits;
  }
}

interface Texts {
  readonly title?: string | undefined;
  readonly folder?: string | null | undefined;
  readonly content?: string | undefined;
  readonly role?: MessageRole;
  readonly metadata?: unknown;
  readonly citations?: unknown;
}

/** Databases keep no NUL and no half of a surrogate pair; the second is replaced as every decoder does. */
export function checkTexts<T extends Texts>(input: T): T {
  const entries = Object.entries(input).map(([name, value]: [string, unknown]) => {
    if (typeof value === 'object' && value !== null) requireShort(name, value);
    return [name, typeof value === 'string' ? storable(name, value) : value] as const;
  });
  return Object.fromEntries(entries) as unknown as T;
}

function storable(name: string, text: string): string {
  if (!text.includes('\0')) return text.toWellFormed();
  throw conversationError('invalid_request', `\`${name}\` holds a NUL character (U+0000), which cannot be stored; remove it.`);
}

function requireShort(name: string, value: object): void {
  const { length } = JSON.stringify(value);
  if (length <= MAX_JSON_LENGTH) return;
  const detail = `\`${name}\` has ${length} characters as JSON, and at most ${MAX_JSON_LENGTH} are kept.`;
  throw conversationError('invalid_request', detail);
}
