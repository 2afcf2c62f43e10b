/** Artifacts of one caller. What belongs to others is not found, save through a link. Throws ConversationError and StorageError. */
import { randomUUID } from 'node:crypto';
import type { Storage, TenantScope } from '../../../platform/storage/index.ts';
import { conversationError } from '../errors.ts';
import type { Owner } from '../owner.ts';
import { checkTexts } from '../service.ts';
import { newShareId, shareNotFound } from '../sharing/share-service.ts';
import type { TenantSpace } from '../store/tenant-space.ts';
import type {
  Artifact,
  ArtifactContent,
  ArtifactCursor,
  ArtifactDetail,
  ArtifactShare,
  NewArtifact,
  NewVersion,
} from './artifact.ts';
import { ArtifactShareStore } from './artifact-share-store.ts';
import { ArtifactStore, artifactNotFound } from './artifact-store.ts';

type ArtifactInput = Omit<NewArtifact, 'id' | 'createdAt'> & { readonly id?: string | undefined };

/** A segment of the routes, which would be found in the artifact's place. */
const RESERVED = 'share';

export class ArtifactService {
  readonly #artifacts: ArtifactStore;
  readonly #shares: ArtifactShareStore;
  readonly #now: () => number;

  constructor({ storage, space, now = Date.now }: { storage: Storage; space: TenantSpace; now?: () => number }) {
    this.#artifacts = new ArtifactStore(storage, space);
    this.#shares = new ArtifactShareStore(storage);
    this.#now = now;
  }

  async create(owner: Owner, input: ArtifactInput): Promise<{ artifact: Artifact; isNew: boolean }> {
    if (input.id === RESERVED) throw conversationError('invalid_request', '`id` cannot be "share"; choose another.');
    return await this.#artifacts.insert(owner, {
      ...checkTexts(input),
      id: input.id ?? randomUUID(),
      createdAt: this.#now(),
    });
  }

  async addVersion(
    owner: Owner,
    id: string,
    input: Omit<NewVersion, 'createdAt'>,
  ): Promise<{ artifact: Artifact; isNew: boolean }> {
    return await this.#artifacts.addVersion(owner, id, { ...checkTexts(input), createdAt: this.#now() });
  }

  /** Newest first. */
  async list(owner: Owner, limit: number, after?: ArtifactCursor, conversationId?: string): Promise<Artifact[]> {
    return await this.#artifacts.list(owner, limit, after, conversationId);
  }

  async get(owner: Owner, id: string, version?: number): Promise<ArtifactDetail> {
    const found = await this.#artifacts.find(owner, id, version);
    if (found === undefined) throw artifactNotFound();
    return { ...found, shares: await this.#shares.list(owner, id) };
  }

  async remove(owner: Owner, id: string): Promise<void> {
    if (!(await this.#artifacts.remove(owner, id))) throw artifactNotFound();
  }

  async share(owner: Owner, id: string, version?: number): Promise<{ share: ArtifactShare; isNew: boolean }> {
    return await this.#shares.insert(owner, id, version, { id: newShareId(), createdAt: this.#now() });
  }

  async readShared(scope: TenantScope, id: string): Promise<{ artifact: Artifact; shown: ArtifactContent }> {
    const found = await this.#shares.find(scope, id);
    if (found === undefined) throw shareNotFound();
    return found;
  }

  async revoke(owner: Owner, id: string): Promise<void> {
    if (!(await this.#shares.remove(owner, id))) throw shareNotFound();
  }
}
