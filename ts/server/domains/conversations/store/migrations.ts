import { type Kysely, sql } from 'kysely';
import { column, type Migration } from '../../../platform/storage/index.ts';
import type { ConversationTables } from './tables.ts';

export const conversationMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create conversations',
    up: async (schema) => {
      await schema.tenantTable('conversations', {
        columns: {
          no: column.identity(),
          subject: column.id(),
          id: column.id(),
          title: column.text(),
          folder: column.text({ nullable: true }),
          pinned: column.flag(),
          archived: column.flag(),
          temporary: column.flag(),
          model: column.text({ nullable: true }),
          metadata: column.json({ nullable: true }),
          current_message_id: column.id({ nullable: true }),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
          expires_at: column.timestamp({ nullable: true }),
          version: column.integer(),
          last_seq: column.integer(),
        },
        unique: [['tenant', 'subject', 'id']],
      });
      await schema.index('conversations_by_update', 'conversations', ['tenant', 'subject', 'updated_at', 'id']);
      await schema.index('conversations_by_expiry', 'conversations', ['expires_at'], { where: 'expires_at is not null' });
      await schema.index('conversations_erased', 'conversations', ['no'], { where: "subject = ''" });
      await schema.tenantTable('conversation_messages', {
        columns: {
          conversation_no: column.integer({ references: { table: 'conversations', column: 'no', onDelete: 'cascade' } }),
          seq: column.integer(),
          id: column.id(),
          parent_id: column.id({ nullable: true }),
          role: column.text(),
          content: column.text(),
          model: column.text({ nullable: true }),
          citations: column.json({ nullable: true }),
          metadata: column.json({ nullable: true }),
          ts: column.timestamp(),
        },
        primaryKey: ['conversation_no', 'seq'],
        unique: [['conversation_no', 'id']],
      });
      // Without a foreign key: it would be checked for each of the hundred terms of a message.
      await schema.tenantTable('conversation_terms', {
        columns: { conversation_no: column.integer(), block: column.integer(), term: column.text(), bits: column.integer() },
        primaryKey: ['conversation_no', 'block', 'term'],
        clustered: true,
      });
    },
  },
  {
    id: 2,
    name: 'share conversations by link',
    up: async (schema) => {
      await schema.tenantTable('conversation_shares', {
        columns: {
          id: column.id(),
          conversation_no: column.integer({ references: { table: 'conversations', column: 'no', onDelete: 'cascade' } }),
          leaf_id: column.id(),
          created_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
        unique: [['conversation_no', 'leaf_id']],
      });
      await schema.index('conversations_by_folder', 'conversations', ['tenant', 'subject', 'folder'], {
        where: 'folder is not null',
      });
    },
  },
  {
    id: 3,
    name: 'create artifacts',
    up: async (schema) => {
      const artifact = () => column.integer({ references: { table: 'artifacts', column: 'no', onDelete: 'cascade' } });
      await schema.tenantTable('artifacts', {
        columns: {
          no: column.identity(),
          subject: column.id(),
          id: column.id(),
          conversation_no: column.integer({
            nullable: true,
            references: { table: 'conversations', column: 'no', onDelete: 'cascade' },
          }),
          title: column.text(),
          kind: column.text(),
          language: column.text({ nullable: true }),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
          last_version: column.integer(),
        },
        unique: [['tenant', 'subject', 'id']],
      });
      await schema.index('artifacts_by_update', 'artifacts', ['tenant', 'subject', 'updated_at', 'id']);
      await schema.index('artifacts_of_conversation', 'artifacts', ['conversation_no'], { where: 'conversation_no is not null' });
      await schema.tenantTable('artifact_versions', {
        columns: {
          artifact_no: artifact(),
          version: column.integer(),
          content: column.text(),
          message_id: column.id({ nullable: true }),
          created_at: column.timestamp(),
        },
        primaryKey: ['artifact_no', 'version'],
      });
      await schema.tenantTable('artifact_shares', {
        columns: { id: column.id(), artifact_no: artifact(), version: column.integer(), created_at: column.timestamp() },
        primaryKey: ['tenant', 'id'],
        unique: [['artifact_no', 'version']],
      });
    },
  },
  {
    id: 4,
    name: 'create prompts',
    up: async (schema) => {
      await schema.tenantTable('prompts', {
        columns: {
          subject: column.id(),
          id: column.id(),
          title: column.text(),
          content: column.text(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'subject', 'id'],
      });
    },
  },
  {
    id: 5,
    name: 'give conversations files',
    up: (schema) => schema.addColumn('conversations', 'files_key', column.id({ nullable: true })),
  },
  {
    id: 6,
    name: 'count the bytes of a tenant',
    up: async (schema) => {
      for (const table of ['conversations', 'artifacts']) {
        await schema.addColumn(table, 'bytes', column.integer({ default: 0 }));
        await schema.index(`${table}_by_bytes`, table, ['tenant', 'bytes']);
      }
      await countBytes(schema.db<ConversationTables>());
    },
  },
];

/** What was there before. Each row counts 256 bytes beside its texts. */
async function countBytes(db: Kysely<ConversationTables>): Promise<void> {
  const messages = sql`(select coalesce(sum(256 + octet_length(content) + coalesce(octet_length(citations), 0)
    + coalesce(octet_length(metadata), 0)), 0) from conversation_messages where conversation_no = conversations.no)`;
  await db
    .updateTable('conversations')
    .set({ bytes: sql<number>`256 + octet_length(title) + coalesce(octet_length(metadata), 0) + ${messages}` })
    .execute();
  const versions = sql`(select coalesce(sum(256 + octet_length(content)), 0) from artifact_versions where artifact_no = artifacts.no)`;
  await db
    .updateTable('artifacts')
    .set({ bytes: sql<number>`256 + octet_length(title) + ${versions}` })
    .execute();
}
