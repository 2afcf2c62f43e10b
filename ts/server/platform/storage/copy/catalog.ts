/** The tables of a database, as the database itself knows them. */
import { sql } from 'kysely';
import { bindKysely } from '../bound-kysely.ts';
import type { ReadableDatabase } from '../engine.ts';
import { StorageError } from '../storage-error.ts';
import { systemScope } from '../tenant-scope.ts';

export interface CatalogTable {
  readonly name: string;
  /** Sorted by name, so that both databases list them alike. */
  readonly columns: readonly string[];
  /** In the key's order. */
  readonly primaryKey: readonly string[];
  /** Tables whose rows have to be there before. */
  readonly references: readonly string[];
}

/** Tables of storage itself, which each database has for itself. */
const OWN_TABLES = new Set(['svc_migrations', 'svc_database', 'svc_copy', 'svc_probe']);

interface ColumnRow {
  table_name: string;
  column_name: string;
  /** The column's place in the primary key, from 1; 0 for none. */
  key_place: number;
}

interface ReferenceRow {
  table_name: string;
  target: string;
}

const COLUMNS = {
  sqlite: sql<ColumnRow>`select m.name as table_name, c.name as column_name, c.pk as key_place
    from sqlite_schema m join pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite\\_%' escape '\\'`,
  postgres: sql<ColumnRow>`select t.relname::text as table_name, a.attname::text as column_name,
    coalesce(array_position(i.indkey::int[], a.attnum::int) + 1, 0) as key_place
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_index i on i.indrelid = t.oid and i.indisprimary
    where t.relkind = 'r' and t.relnamespace = current_schema()::regnamespace`,
};

const REFERENCES = {
  sqlite: sql<ReferenceRow>`select m.name as table_name, f."table" as target
    from sqlite_schema m join pragma_foreign_key_list(m.name) f where m.type = 'table'`,
  postgres: sql<ReferenceRow>`select t.relname::text as table_name, f.relname::text as target
    from pg_constraint c join pg_class t on t.oid = c.conrelid join pg_class f on f.oid = c.confrelid
    where c.contype = 'f' and t.relnamespace = current_schema()::regnamespace`,
};

/** The tables of modules; each comes after those that it references. */
export async function listTables(engine: ReadableDatabase): Promise<CatalogTable[]> {
  const { columns, references } = await engine.read(systemScope(), async (execute) => {
    const db = bindKysely<unknown>(engine.dialect, execute);
    const columns = (await COLUMNS[engine.dialect].execute(db)).rows;
    return { columns, references: (await REFERENCES[engine.dialect].execute(db)).rows };
  });
  const byTable = Map.groupBy(columns, ({ table_name }) => table_name);
  const names = [...byTable.keys()].filter((name) => !OWN_TABLES.has(name)).sort();
  return inReferenceOrder(names.map((name) => toTable(name, byTable.get(name) ?? [], references)));
}

function toTable(name: string, rows: readonly ColumnRow[], references: readonly ReferenceRow[]): CatalogTable {
  const primaryKey = rows.filter(({ key_place }) => key_place > 0).sort((a, b) => a.key_place - b.key_place);
  return {
    name,
    columns: rows.map(({ column_name }) => column_name).sort(),
    primaryKey: primaryKey.map(({ column_name }) => column_name),
    references: references.filter(({ table_name, target }) => table_name === name && target !== name).map(({ target }) => target),
  };
}

function inReferenceOrder(tables: readonly CatalogTable[]): CatalogTable[] {
  const ordered: CatalogTable[] = [];
  const placed = new Set<string>();
  while (ordered.length < tables.length) {
    const next = tables.find(({ name, references }) => !placed.has(name) && references.every((target) => placed.has(target)));
    if (!next)
      throw new StorageError('copy_refused', 'Tables reference each other in a circle, so no order of copying them works.');
    placed.add(next.name);
    ordered.push(next);
  }
  return ordered;
}
