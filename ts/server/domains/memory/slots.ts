/** The slots of each owner: a codebook of their memories and a model of its sequence, learned in dreams, kept until something of it is forgotten. */
import type { TenantScope } from '../../platform/storage/index.ts';
import type { DreamStore } from './dream-store.ts';
import type { SlotMember } from './forecast/codebook.ts';
import type { MemoryCollection } from './memory.ts';
import type { MemoryStore } from './store.ts';
import type { MemoryStorage } from './tables.ts';

interface SlotsOptions {
  readonly storage: MemoryStorage;
  readonly memories: Pick<MemoryStore, 'collections'>;
  readonly dreams: Pick<DreamStore, 'load'>;
  /** Learns in a thread; undefined: there are too few members. */
  readonly learn: (
    members: readonly SlotMember[],
    signal: AbortSignal,
  ) => Promise<{ readonly section: Uint8Array; readonly nSlots: number } | undefined>;
  readonly now: () => number;
}

/** Memories that change while slots are learned of them are learned again, so often. */
const TRIES = 3;

export class Slots {
  readonly #options: SlotsOptions;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** How many there are now; 0: there are too few memories, or they changed each time. */
  async learn(scope: TenantScope, owner: string, signal: AbortSignal): Promise<number> {
    const { memories, dreams, learn } = this.#options;
    for (let i = 0; i < TRIES; i++) {
      signal.throwIfAborted();
      const [collection] = await memories.collections({ ...scope, owners: [owner] });
      if (collection === undefined) return 0;
      const loaded = await dreams.load(scope, collection);
      const members = loaded.map(({ memory, embedding }) => ({ at: memory.validFrom, vector: embedding }));
      const learned = await learn(members, signal);
      if (learned === undefined) return 0;
      if (await this.#keep(scope, collection, learned.section)) return learned.nSlots;
    }
    return 0;
  }

  /** Gives them as the section of a file; undefined: none were learned, or something was forgotten since. */
  async find(scope: TenantScope, owner: string): Promise<Uint8Array | undefined> {
    const row = await this.#options.storage.read(scope, (db) =>
      db
        .selectFrom('memory_slots')
        .select('section')
        .where('tenant', '=', scope.tenant)
        .where('owner', '=', owner)
        .executeTakeFirst(),
    );
    return row && new Uint8Array(row.section);
  }

  /** False: the memories are not any more those that it was learned of. */
  async #keep(scope: TenantScope, { no, version, owner }: MemoryCollection, section: Uint8Array): Promise<boolean> {
    const { storage, now } = this.#options;
    const { tenant } = scope;
    return await storage.write(scope, async (tx) => {
      const row = await tx
        .selectFrom('memory_collections')
        .select('version')
        .where('tenant', '=', tenant)
        .where('no', '=', no)
        .executeTakeFirst();
      if (row?.version !== version) return false;
      const learned = { section, learned_at: now() };
      await tx
        .insertInto('memory_slots')
        .values({ tenant, owner, ...learned })
        .onConflict((conflict) => conflict.columns(['tenant', 'owner']).doUpdateSet(learned))
        .execute();
      return true;
    });
  }
}
