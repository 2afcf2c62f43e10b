import { column, type Migration } from '../../../platform/storage/index.ts';
import { newBaseId } from './base-id.ts';
import type { KnowledgeTables } from './tables.ts';

/** Those between them are of the module files, which was a part of this one. */
export const dataMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create knowledge bases',
    up: async (schema) => {
      await schema.tenantTable('data_bases', {
        columns: {
          no: column.identity(),
          namespace: column.text(),
          embedding_model: column.text(),
          embedding_source: column.text(),
          dimensions: column.integer({ nullable: true }),
          version: column.integer(),
          swept_version: column.integer(),
          removed: column.flag(),
          created_at: column.timestamp(),
        },
      });
      await schema.index('data_bases_by_name', 'data_bases', ['tenant', 'namespace'], { unique: true, where: 'removed = 0' });
      await schema.index('data_bases_removed', 'data_bases', ['no'], { where: 'removed = 1' });
      await schema.tenantTable('data_documents', {
        columns: {
          no: column.identity(),
          base_no: column.integer(),
          id: column.id(),
          source: column.text(),
          title: column.text({ nullable: true }),
          sha256: column.text(),
          kind: column.text(),
          tags: column.json(),
          dated_at: column.timestamp(),
          bytes: column.integer(),
          n_chunks: column.integer(),
          state: column.text(),
          version: column.integer(),
          job_id: column.id({ nullable: true }),
          changed_at: column.timestamp(),
        },
        unique: [['tenant', 'id']],
      });
      await schema.index('data_documents_by_source', 'data_documents', ['base_no', 'source'], {
        unique: true,
        where: "state = 'ready'",
      });
      await schema.index('data_documents_by_version', 'data_documents', ['base_no', 'version']);
      await schema.index('data_documents_unfinished', 'data_documents', ['changed_at'], { where: "state != 'ready'" });
      // Without foreign keys: a base of a million chunks is removed in small steps, not by one cascade.
      await schema.tenantTable('data_chunks', {
        columns: {
          base_no: column.integer(),
          document_no: column.integer(),
          seq: column.integer(),
          text_start: column.integer(),
          text_end: column.integer(),
          text: column.text(),
          heading: column.text({ nullable: true }),
          page: column.integer({ nullable: true }),
          sheet: column.text({ nullable: true }),
          slide: column.integer({ nullable: true }),
          embedding_model: column.text(),
          embedding: column.blob(),
          terms: column.blob(),
        },
        primaryKey: ['document_no', 'seq'],
      });
      await schema.tenantTable('data_blocks', {
        columns: { document_no: column.integer(), seq: column.integer(), form: column.text(), content: column.text() },
        primaryKey: ['document_no', 'seq'],
      });
    },
  },
  {
    id: 5,
    name: 'add vector stores',
    up: async (schema) => {
      await schema.addColumn('data_bases', 'public_id', column.id({ default: '' }));
      await schema.addColumn('data_bases', 'title', column.text({ nullable: true }));
      await schema.addColumn('data_bases', 'metadata', column.json({ nullable: true }));
      await schema.addColumn('data_bases', 'expires_days', column.integer({ nullable: true }));
      await schema.addColumn('data_bases', 'used_at', column.timestamp({ nullable: true }));
      const db = schema.db<KnowledgeTables>();
      for (const { no } of await db.selectFrom('data_bases').select('no').execute())
        await db.updateTable('data_bases').set({ public_id: newBaseId() }).where('no', '=', no).execute();
      await schema.index('data_bases_by_public_id', 'data_bases', ['public_id'], { unique: true });
      await schema.addColumn('data_documents', 'file_id', column.id({ nullable: true }));
      await schema.addColumn('data_documents', 'attributes', column.json({ nullable: true }));
      await schema.addColumn('data_documents', 'batch_id', column.id({ nullable: true }));
      await schema.addColumn('data_documents', 'failure', column.json({ nullable: true }));
      await schema.index('data_documents_by_file', 'data_documents', ['base_no', 'file_id'], {
        unique: true,
        where: "file_id is not null and state != 'deleted'",
      });
      await schema.index('data_documents_of_file', 'data_documents', ['file_id'], { where: 'file_id is not null' });
      await schema.index('data_documents_by_batch', 'data_documents', ['batch_id'], { where: 'batch_id is not null' });
    },
  },
  {
    id: 7,
    name: 'keep what was not read of a file',
    up: async (schema) => {
      await schema.addColumn('data_documents', 'warnings', column.json({ nullable: true }));
    },
  },
  {
    id: 9,
    name: 'keep the files of conversations',
    up: async (schema) => {
      await schema.addColumn('data_bases', 'owner', column.id({ nullable: true }));
      await schema.index('data_bases_by_owner', 'data_bases', ['owner'], { where: 'owner is not null' });
    },
  },
  {
    id: 10,
    name: 'keep what texts were embedded with',
    up: async (schema) => {
      await schema.addColumn('data_bases', 'embedding_prefixes', column.text({ nullable: true }));
    },
  },
  {
    id: 11,
    name: 'keep when a passage is said in a recording',
    up: async (schema) => {
      await schema.addColumn('data_chunks', 'start_seconds', column.real({ nullable: true }));
      await schema.addColumn('data_chunks', 'end_seconds', column.real({ nullable: true }));
    },
  },
];
