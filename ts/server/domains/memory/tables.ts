/** The tables of the memory module. Times are milliseconds since 1970. */
import type { Generated } from 'kysely';
import { column, type Migration, type StorageAccess } from '../../platform/storage/index.ts';

/** The memories of one owner, bound to the model that embeds them. */
interface CollectionTable {
  tenant: string;
  no: Generated<number>;
  owner: string;
  id: string;
  embedding_model: string;
  embedding_source: string;
  embedding_prefixes: string;
  dimensions: number | null;
  version: number;
}

export interface MemoryTable {
  tenant: string;
  no: Generated<number>;
  id: string;
  collection_no: number;
  owner: string;
  kind: string;
  text: string;
  /** SHA-256 of the text without what does not matter in it. */
  text_hash: string;
  subject: string | null;
  /** The attribute that it gives a value to, where that has one value at a time. */
  attribute: string | null;
  /** JSON array. */
  origins: string;
  trust: string;
  valid_from: number;
  valid_to: number | null;
  recorded_at: number;
  changed_at: number;
  superseded_by: string | null;
  strength: number;
  recalled_at: number | null;
  /** Its strength has faded until then. */
  decayed_at: number | null;
  pinned: number;
  edited: number;
  state: string;
  /** The version of the collection when the memory came into the index or left it. */
  version: number;
  /** 32-bit floats, little-endian. */
  embedding: Uint8Array;
}

/** A memory that is gone: indexes remove it, and nothing is made of the same place of the same message again. It holds no text. */
interface ForgottenTable {
  tenant: string;
  no: number;
  id: string;
  collection_no: number;
  owner: string;
  version: number;
  /** JSON array of places in messages. */
  places: string;
  forgotten_at: number;
}

interface ChangeTable {
  tenant: string;
  id: string;
  memory_id: string;
  owner: string;
  at: number;
  action: string;
  before: string;
  after: string;
  reason: string;
  /** The dream that made it; null: a person, or what a person said, did. */
  dream_id: string | null;
  score: number | null;
  undone: number;
}

interface DreamTable {
  tenant: string;
  id: string;
  owner: string;
  state: string;
  request: string;
  /** Null: it waits to be enqueued. */
  job_id: string | null;
  report: string | null;
  began_at: number;
  ended_at: number | null;
}

/** An account says here how it wants its memory used. */
interface PreferenceTable {
  tenant: string;
  owner: string;
  recall: number;
  /** JSON, the delegation by which memories are taken from what the account says; null: none are. */
  extract: string | null;
  /** Messages from before are not read. */
  extract_since: number | null;
  /** Conversations that have rested since then were read. */
  extracted_until: number | null;
}

/** How far a conversation was read for memories. */
interface ReadingTable {
  tenant: string;
  owner: string;
  conversation_id: string;
  seq: number;
}

/** A choice of the router. It holds names and scores, and no text. */
export interface RouteTable {
  tenant: string;
  id: string;
  owner: string;
  kind: string;
  conversation_id: string | null;
  message_id: string | null;
  at: number;
  /** JSON array of names. */
  routes: string;
  /** JSON array of their scores. */
  scores: string;
  chosen: string;
  /** The rule would have chosen it. */
  floor: string;
  /** The one that what was learned would have chosen; null: nothing was. */
  learned: string | null;
  /** Null: nobody knows yet. */
  outcome: string | null;
  best: string | null;
}

/** The codebook of an owner's memories, as the section of a file. */
interface SlotTable {
  tenant: string;
  owner: string;
  section: Uint8Array;
  learned_at: number;
}

/** The one memory file that everybody's searches find. */
interface PinTable {
  tenant: string;
  file: string;
  sha256: string;
  pinned_at: number;
}

export interface MemoryTables {
  memory_collections: CollectionTable;
  memories: MemoryTable;
  memory_forgotten: ForgottenTable;
  memory_changes: ChangeTable;
  memory_preferences: PreferenceTable;
  memory_dreams: DreamTable;
  memory_readings: ReadingTable;
  memory_routes: RouteTable;
  memory_pins: PinTable;
  memory_slots: SlotTable;
}

export type MemoryStorage = StorageAccess<MemoryTables>;

export const memoryMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create memories',
    up: async (schema) => {
      await schema.tenantTable('memory_collections', {
        columns: {
          no: column.identity(),
          owner: column.id(),
          id: column.id(),
          embedding_model: column.text(),
          embedding_source: column.text(),
          embedding_prefixes: column.text(),
          dimensions: column.integer({ nullable: true }),
          version: column.integer(),
        },
        unique: [['tenant', 'owner']],
      });
      await schema.tenantTable('memories', {
        columns: {
          no: column.identity(),
          id: column.id(),
          collection_no: column.integer(),
          owner: column.id(),
          kind: column.text(),
          text: column.text(),
          text_hash: column.text(),
          subject: column.text({ nullable: true }),
          attribute: column.text({ nullable: true }),
          origins: column.json(),
          trust: column.text(),
          valid_from: column.timestamp(),
          valid_to: column.timestamp({ nullable: true }),
          recorded_at: column.timestamp(),
          changed_at: column.timestamp(),
          superseded_by: column.id({ nullable: true }),
          strength: column.real(),
          recalled_at: column.timestamp({ nullable: true }),
          pinned: column.flag(),
          edited: column.flag(),
          state: column.text(),
          version: column.integer(),
          embedding: column.blob(),
        },
        unique: [['tenant', 'id']],
      });
      await schema.index('memories_by_version', 'memories', ['collection_no', 'version']);
      await schema.index('memories_by_owner', 'memories', ['tenant', 'owner', 'id']);
      await schema.index('memories_by_text', 'memories', ['collection_no', 'text_hash']);
      await schema.index('memories_by_attribute', 'memories', ['collection_no', 'attribute'], {
        where: 'attribute is not null',
      });
      await schema.tenantTable('memory_forgotten', {
        columns: {
          no: column.integer(),
          id: column.id(),
          collection_no: column.integer(),
          owner: column.id(),
          version: column.integer(),
          places: column.json(),
          forgotten_at: column.timestamp(),
        },
        primaryKey: ['no'],
      });
      await schema.index('memory_forgotten_by_version', 'memory_forgotten', ['collection_no', 'version']);
      await schema.index('memory_forgotten_by_owner', 'memory_forgotten', ['tenant', 'owner']);
      await schema.tenantTable('memory_changes', {
        columns: {
          id: column.id(),
          memory_id: column.id(),
          owner: column.id(),
          at: column.timestamp(),
          action: column.text(),
          before: column.json(),
          after: column.json(),
          reason: column.text(),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('memory_changes_by_memory', 'memory_changes', ['tenant', 'memory_id', 'id']);
      await schema.tenantTable('memory_preferences', {
        columns: { owner: column.id(), recall: column.flag() },
        primaryKey: ['tenant', 'owner'],
      });
    },
  },
  {
    id: 2,
    name: 'add dreams',
    up: async (schema) => {
      await schema.addColumn('memories', 'decayed_at', column.timestamp({ nullable: true }));
      await schema.addColumn('memory_changes', 'dream_id', column.id({ nullable: true }));
      await schema.addColumn('memory_changes', 'score', column.real({ nullable: true }));
      await schema.addColumn('memory_changes', 'undone', column.flag({ default: 0 }));
      await schema.index('memory_changes_by_dream', 'memory_changes', ['tenant', 'dream_id', 'id'], {
        where: 'dream_id is not null',
      });
      await schema.index('memories_by_successor', 'memories', ['tenant', 'superseded_by'], {
        where: 'superseded_by is not null',
      });
      await schema.tenantTable('memory_dreams', {
        columns: {
          id: column.id(),
          owner: column.id(),
          state: column.text(),
          request: column.json(),
          report: column.json({ nullable: true }),
          began_at: column.timestamp(),
          ended_at: column.timestamp({ nullable: true }),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('memory_dreams_by_owner', 'memory_dreams', ['tenant', 'owner', 'id']);
    },
  },
  {
    id: 3,
    name: 'add jobs of dreams, and what is taken from conversations',
    up: async (schema) => {
      await schema.addColumn('memory_dreams', 'job_id', column.id({ nullable: true }));
      await schema.addColumn('memory_preferences', 'extract', column.json({ nullable: true }));
      await schema.addColumn('memory_preferences', 'extract_since', column.timestamp({ nullable: true }));
      await schema.addColumn('memory_preferences', 'extracted_until', column.timestamp({ nullable: true }));
      await schema.tenantTable('memory_readings', {
        columns: { owner: column.id(), conversation_id: column.id(), seq: column.integer() },
        primaryKey: ['tenant', 'owner', 'conversation_id'],
      });
    },
  },
  {
    id: 4,
    name: 'add choices of the router',
    up: async (schema) => {
      await schema.tenantTable('memory_routes', {
        columns: {
          id: column.id(),
          owner: column.id(),
          kind: column.text(),
          conversation_id: column.id({ nullable: true }),
          message_id: column.id({ nullable: true }),
          at: column.timestamp(),
          routes: column.json(),
          scores: column.json(),
          chosen: column.text(),
          floor: column.text(),
          learned: column.text({ nullable: true }),
          outcome: column.text({ nullable: true }),
          best: column.text({ nullable: true }),
        },
        primaryKey: ['tenant', 'id'],
      });
    },
  },
  {
    id: 5,
    name: 'add the master memory',
    up: async (schema) => {
      await schema.tenantTable('memory_pins', {
        columns: { file: column.text(), sha256: column.text(), pinned_at: column.timestamp() },
        primaryKey: ['tenant'],
      });
    },
  },
  {
    id: 6,
    name: 'give slots their key',
    backup: 'slot-pk',
    up: async (schema) => {
      await schema.tenantTable('memory_slots', {
        columns: { owner: column.id(), section: column.blob(), learned_at: column.timestamp() },
        primaryKey: ['tenant', 'owner'],
      });
    },
  },
];
