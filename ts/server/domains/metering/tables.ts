/** The rows that metering keeps. Times are milliseconds since 1970; an absent user or key is the empty text. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isSystemScope, type StorageAccess, type StorageScope } from '../../platform/storage/index.ts';

/** Whose use it is, and of what: the columns that usage is counted by. */
export interface UsageKey {
  tenant: string;
  user_id: string;
  key_id: string;
  model: string;
  operation: string;
}

/** A request whose answer is on its way: what it may have used at most when the process ends now. */
export interface OpenRequestRow extends UsageKey {
  id: string;
  node: string;
  started_at: number;
  touched_at: number;
  prompt_tokens: number;
  completion_tokens: number;
}

/** What ended in one hour on one node. */
/** Rows of the same key are summed up. */
export const USAGE_KEY = [
  'tenant',
  'hour',
  'node',
  'user_id',
  'key_id',
  'model',
  'operation',
  'backend',
  'currency',
  'estimated',
] as const;

/** What is summed up. */
export const USAGE_AMOUNTS = [
  'requests',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'milliseconds',
  'cost_micros',
  'reasoning_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'audio_tokens',
  'image_tokens',
  'audio_ms',
  'characters',
] as const;

export interface UsageRow extends UsageKey {
  /** When the hour began. */
  hour: number;
  node: string;
  requests: number;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  milliseconds: number;
  /** Of a model that runs elsewhere; else the empty text. */
  backend: string;
  /** Empty: no price is known, and cost_micros says nothing. */
  currency: string;
  /** 1: the provider reported nothing, and the figures are ours. */
  estimated: number;
  /** Millionths of the currency. */
  cost_micros: number;
  reasoning_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  audio_tokens: number;
  image_tokens: number;
  /** The length of recordings that became text. */
  audio_ms: number;
  /** The length of texts that were read aloud. */
  characters: number;
}

export type SubjectKind = 'tenant' | 'user' | 'key';

export interface QuotaRow {
  tenant: string;
  kind: SubjectKind;
  /** Id of the user or key; of a tenant its own. */
  subject: string;
  requests_per_minute: number | null;
  tokens_per_minute: number | null;
  requests_per_month: number | null;
  tokens_per_month: number | null;
  /** Millionths, of whatever currency the prices are in. */
  cost_micro_per_month: number | null;
}

/** What one node used and holds of a quota by the minute, for the others. */
export interface RecentRow {
  tenant: string;
  kind: SubjectKind;
  subject: string;
  node: string;
  /** 0: what running requests hold; 1: what was used in the last minute. */
  slot: number;
  requests: number;
  tokens: number;
  updated_at: number;
}

export interface MeteringTables {
  metering_open: OpenRequestRow;
  metering_usage: UsageRow;
  /** The last batch that each node has written. */
  metering_nodes: { node: string; batch: number };
  metering_quotas: QuotaRow;
  metering_recent: RecentRow;
}

export type MeteringStorage = StorageAccess<MeteringTables>;

/** The condition that a row belongs to the scope. On SQLite it is the only wall between tenants. */
export function within(scope: StorageScope): RawBuilder<SqlBool> {
  return isSystemScope(scope) ? sql<SqlBool>`1 = 1` : sql<SqlBool>`tenant = ${scope.tenant}`;
}
