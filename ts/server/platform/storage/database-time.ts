import { type RawBuilder, sql } from 'kysely';
import type { DialectName } from './bound-kysely.ts';

/** Milliseconds since 1970 by the clock that all nodes of one database share. */
export function databaseTime(dialect: DialectName): RawBuilder<number> {
  return dialect === 'sqlite'
    ? sql<number>`cast(unixepoch('subsec') * 1000 as integer)`
    : sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`;
}
