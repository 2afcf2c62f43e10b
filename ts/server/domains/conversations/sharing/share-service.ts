/** Shares conversations inside the tenant. Only the owner makes and takes back links; whoever has one reads. Throws ConversationError and StorageError. */
import { randomBytes } from 'node:crypto';
import type { Storage, TenantScope } from '../../../platform/storage/index.ts';
import { type ConversationError, conversationError, isConversationError } from '../errors.ts';
import { MAX_PAGE_MESSAGES } from '../limits.ts';
import type { Owner } from '../owner.ts';
import type { ConversationService } from '../service.ts';
import type { Share, SharedPage } from './share.ts';
import { ShareStore } from './share-store.ts';

const MAX_LISTED = 1_000;

interface ShareServiceOptions {
  readonly storage: Storage;
  readonly conversations: Pick<ConversationService, 'get' | 'messages' | 'currentBranch'>;
  readonly now?: () => number;
}

export class ShareService {
  readonly #store: ShareStore;
  readonly #conversations: ShareServiceOptions['conversations'];
  readonly #now: () => number;

  constructor({ storage, conversations, now = Date.now }: ShareServiceOptions) {
    this.#store = new ShareStore(storage);
    this.#conversations = conversations;
    this.#now = now;
  }

  async share(owner: Owner, conversationId: string): Promise<{ share: Share; isNew: boolean }> {
    return await this.#store.insert(owner, conversationId, newShareId(), this.#now());
  }

  async list(owner: Owner, conversationId?: string): Promise<Share[]> {
    return await this.#store.list(owner, MAX_LISTED, conversationId);
  }

  /** Throws `share_not_found`. */
  async revoke(owner: Owner, id: string): Promise<void> {
    if (!(await this.#store.remove(owner, id))) throw shareNotFound();
  }

  /** Messages of the shared branch behind `after`. Later ones of the conversation are not among them. Throws `share_not_found`. */
  async read(scope: TenantScope, id: string, after = 0): Promise<SharedPage> {
    const share = await this.#store.find(scope, id);
    if (share === undefined) throw shareNotFound();
    const owner: Owner = { ...scope, subject: share.subject };
    try {
      const conversation = await this.#conversations.get(owner, share.conversationId);
      const branch = await this.#conversations.currentBranch(owner, { ...conversation, currentMessageId: share.leafId });
      const page = await this.#conversations.messages(owner, conversation.id, { after, limit: MAX_PAGE_MESSAGES });
      return {
        title: conversation.title,
        model: conversation.model,
        createdAt: share.createdAt,
        messages: page.messages.filter((message) => branch.has(message.id)),
        nextSeq: page.isWhole ? undefined : page.messages.at(-1)?.seq,
      };
    } catch (error) {
      // It was erased meanwhile.
      if (isConversationError(error) && error.code === 'conversation_not_found') throw shareNotFound();
      throw error;
    }
  }
}

/** Nobody guesses it: whoever has the link may read. */
export function newShareId(): string {
  return randomBytes(18).toString('base64url');
}

export function shareNotFound(): ConversationError {
  return conversationError('share_not_found', 'Nothing is shared under this link; it may have been taken back or erased.');
}
