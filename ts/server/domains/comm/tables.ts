/** The rows of the comm module. Times are milliseconds since 1970. */
import { column, type Migration, type StorageAccess, type SystemScope, systemScope } from '../../platform/storage/index.ts';
import type { AccountKind } from './channels/channels.ts';

export interface AccountRow {
  tenant: string;
  id: string;
  kind: AccountKind;
  name: string;
  /** JSON. */
  settings: string;
  enabled: number;
  sealed_key: string | null;
  sealed_by: string | null;
  /** JSON: patterns with `*`; an empty list allows nobody. */
  allowed_recipients: string;
  per_day: number;
  model_may_send: number;
  created_at: number;
  updated_at: number;
}

/**
 * `queued`: it waits for its turn, or for another try after a refusal. `sending`: the provider may have it. `outcome_unknown`: no answer came, and only
 * a person sends it again.
 */
export const MESSAGE_STATES = ['queued', 'sending', 'sent', 'failed', 'outcome_unknown'] as const;
type MessageState = (typeof MESSAGE_STATES)[number];

export interface MessageRow {
  tenant: string;
  id: string;
  account: string;
  owner: string;
  /** Null: the caller gave none. */
  idempotency_key: string | null;
  /** It covers account, recipient, subject and text. */
  hash: string;
  /** The recipient, as much of it as a record needs. */
  masked_to: string;
  /** JSON of recipient, subject and text, sealed by the node that sends it; null once the provider answered. */
  sealed_body: string | null;
  /** The node that has the key and the text. */
  node: string;
  state: MessageState;
  /** 1: an attempt had no answer, so that the provider may have it, whatever it says later. */
  may_be_taken: number;
  /** Why it is not sent. */
  reason: string | null;
  /** The provider calls it so. */
  reference: string | null;
  /** The job that sends it; null: there is none yet. */
  job: string | null;
  created_at: number;
  updated_at: number;
}

/** The states before the end; then it is one of those of a SIP call. */
export const CALL_STATES = [
  'calling',
  'ringing',
  'talking',
  'completed',
  'busy',
  'no_answer',
  'declined',
  'failed',
  'cancelled',
] as const;
type CallState = (typeof CALL_STATES)[number];

export interface CallRow {
  tenant: string;
  id: string;
  account: string;
  owner: string;
  masked_to: string;
  /** The node that makes it. */
  node: string;
  state: CallState;
  /** The last status of SIP; null: none came. */
  sip_status: number | null;
  reason: string | null;
  /** The keys that were pressed, sealed by the node. */
  sealed_digits: string | null;
  /** The stored file of what was said. */
  recording: string | null;
  /** The node seals what was said; null: nothing was recorded, or no speech model heard it. */
  sealed_transcript: string | null;
  talked_ms: number;
  created_at: number;
  updated_at: number;
}

export interface CommTables {
  comm_calls: CallRow;
  comm_accounts: AccountRow;
  comm_messages: MessageRow;
}

export type CommStorage = StorageAccess<CommTables>;

/** A node looks after the messages of all tenants that it sends. */
export const everyMessage = (): SystemScope => systemScope();

export const commMigrations: readonly Migration[] = [
  {
    id: 1,
    name: 'create accounts and messages',
    up: async (schema) => {
      await schema.tenantTable('comm_accounts', {
        columns: {
          id: column.id(),
          kind: column.text(),
          name: column.text(),
          settings: column.json(),
          enabled: column.flag(),
          sealed_key: column.text({ nullable: true }),
          sealed_by: column.text({ nullable: true }),
          allowed_recipients: column.json(),
          per_day: column.integer(),
          model_may_send: column.flag(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
        unique: [['tenant', 'name']],
      });
      await schema.tenantTable('comm_messages', {
        columns: {
          id: column.id(),
          account: column.id(),
          owner: column.id(),
          idempotency_key: column.text({ nullable: true }),
          hash: column.text(),
          masked_to: column.text(),
          sealed_body: column.text({ nullable: true }),
          node: column.id(),
          state: column.text(),
          may_be_taken: column.flag(),
          reason: column.text({ nullable: true }),
          reference: column.text({ nullable: true }),
          job: column.id({ nullable: true }),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('comm_messages_account', 'comm_messages', ['tenant', 'account', 'created_at']);
      await schema.index('comm_messages_key', 'comm_messages', ['tenant', 'owner', 'idempotency_key']);
      await schema.index('comm_messages_open', 'comm_messages', ['node', 'state', 'updated_at']);
      await schema.index('comm_messages_created', 'comm_messages', ['created_at']);
    },
  },
  {
    id: 2,
    name: 'create calls',
    up: async (schema) => {
      await schema.tenantTable('comm_calls', {
        columns: {
          id: column.id(),
          account: column.id(),
          owner: column.id(),
          masked_to: column.text(),
          node: column.id(),
          state: column.text(),
          sip_status: column.integer({ nullable: true }),
          reason: column.text({ nullable: true }),
          sealed_digits: column.text({ nullable: true }),
          recording: column.text({ nullable: true }),
          sealed_transcript: column.text({ nullable: true }),
          talked_ms: column.integer(),
          created_at: column.timestamp(),
          updated_at: column.timestamp(),
        },
        primaryKey: ['tenant', 'id'],
      });
      await schema.index('comm_calls_account', 'comm_calls', ['tenant', 'account', 'created_at']);
      await schema.index('comm_calls_open', 'comm_calls', ['node', 'state']);
      await schema.index('comm_calls_created', 'comm_calls', ['created_at']);
    },
  },
];
