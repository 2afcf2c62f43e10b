/** The prompt library: each caller has their own list, and the tenant has one for all. Throws ConversationError and StorageError. */
import { randomUUID } from 'node:crypto';
import type { Storage } from '../../../platform/storage/index.ts';
import { type ConversationError, conversationError } from '../errors.ts';
import type { Owner } from '../owner.ts';
import { checkTexts } from '../service.ts';
import { type Prompt, type PromptChanges, PromptStore } from './prompt-store.ts';

interface PromptInput {
  readonly id?: string | undefined;
  readonly title: string;
  readonly content: string;
}

export class PromptService {
  readonly #store: PromptStore;
  readonly #now: () => number;

  constructor({ storage, now = Date.now }: { storage: Storage; now?: () => number }) {
    this.#store = new PromptStore(storage);
    this.#now = now;
  }

  async list(owner: Owner): Promise<Prompt[]> {
    return await this.#store.list(owner);
  }

  /** `list`: the caller, or `tenantList`. */
  async create(list: Owner, input: PromptInput): Promise<{ prompt: Prompt; isNew: boolean }> {
    const now = this.#now();
    return await this.#store.insert(list, {
      ...checkTexts(input),
      id: input.id ?? randomUUID(),
      createdAt: now,
      updatedAt: now,
    });
  }

  async update(list: Owner, id: string, changes: PromptChanges): Promise<Prompt> {
    const prompt = await this.#store.update(list, id, checkTexts(changes), this.#now());
    if (prompt === undefined) throw promptNotFound();
    return prompt;
  }

  async remove(list: Owner, id: string): Promise<void> {
    if (!(await this.#store.remove(list, id))) throw promptNotFound();
  }
}

function promptNotFound(): ConversationError {
  return conversationError('prompt_not_found', 'There is no prompt with this id; it may have been deleted.');
}
