/** Makes the sections of a memory file of what an owner remembers now. */
import type { TenantScope } from '../../../platform/storage/index.ts';
import type { DreamStore } from '../dream-store.ts';
import type { Slots } from '../slots.ts';
import type { MemoryStore } from '../store.ts';
import { episodesSection, vectorsSection } from './filed-memories.ts';
import type { ExportSections } from './memory-files.ts';

interface Sources {
  readonly memories: Pick<MemoryStore, 'collections'>;
  readonly dreams: Pick<DreamStore, 'load'>;
  readonly slots: Pick<Slots, 'find'>;
}

export function sectionsOf({ memories, dreams, slots }: Sources): ExportSections {
  return async (scope: TenantScope, owner, kinds) => {
    const [collection] = await memories.collections({ ...scope, owners: [owner] });
    const all = collection === undefined ? [] : await dreams.load(scope, collection);
    const chosen = all.filter(({ memory }) => kinds.includes(memory.kind));
    const filed = chosen.map(({ memory: { id, kind, text, subject, validFrom, validTo, recordedAt } }) => ({
      id,
      kind,
      text,
      subject,
      validFrom,
      validTo,
      recordedAt,
    }));
    const episodes = { kind: 'episodes', name: owner, bytes: episodesSection(filed) } as const;
    if (collection?.dimensions === undefined || chosen.length === 0) return { sections: [episodes], nMemories: filed.length };
    const { embeddingModel: model, prefixes = '', dimensions } = collection;
    const byId = new Map(chosen.map(({ memory, embedding }) => [memory.id, embedding]));
    const vectors = { kind: 'vectors', name: owner, bytes: vectorsSection({ model, prefixes, dimensions, byId }) } as const;
    const learned = await slots.find(scope, owner);
    const beside = learned === undefined ? [] : [{ kind: 'slots', name: owner, bytes: learned } as const];
    return { sections: [episodes, vectors, ...beside], nMemories: filed.length };
  };
}
