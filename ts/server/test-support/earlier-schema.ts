/**
 * Databases as earlier versions left them, as SQL in `earlier-schemas/`: every upgrade starts from one of these. `node
 * ts/server/test-support/earlier-schema.ts NAME` writes that of this program with rows in each table, once for each release that has
 * new migrations; what is there never changes. With `--first`: as the first migration of each module left it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { databaseOptions } from '../database.ts';
import { modules } from '../modules.ts';
import { createStorage, type ModuleMigrations } from '../platform/storage/index.ts';
import { loadNodeConfig } from '../settings.ts';

const folder = join(import.meta.dirname, 'earlier-schemas');

export function earlierSchemas(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
}

export function writeEarlierDatabase(name: string, file: string): void {
  const database = new Database(file);
  database.pragma('foreign_keys = off');
  database.exec(readFileSync(join(folder, name), 'utf8'));
  const broken = database.pragma('foreign_key_check') as unknown[];
  database.close();
  if (broken.length > 0) throw new Error(`${name} has rows that belong to none`);
}

/** The migrations of this program, in their order. */
export function allMigrations(): readonly ModuleMigrations[] {
  return databaseOptions(loadNodeConfig({ root: tmpdir(), environment: {} }).values, modules).modules;
}

/** Rows by table, without those that svc itself keeps about the database. */
export function countRows(file: string): Record<string, number> {
  const database = new Database(file, { readonly: true });
  const counts = tablesOf(database).map((table) => [table, database.prepare(`select count(*) from "${table}"`).pluck().get()]);
  database.close();
  return Object.fromEntries(counts) as Record<string, number>;
}

/** Everything that a schema is made of, in words that can be compared. */
export function describeSchema(file: string): Record<string, unknown> {
  const database = new Database(file, { readonly: true });
  const described = tablesOf(database).map((table) => [
    table,
    {
      columns: byName(database.pragma(`table_xinfo("${table}")`) as Named[]),
      keys: database.pragma(`foreign_key_list("${table}")`),
      indexes: byName(database.pragma(`index_list("${table}")`) as Named[]).map(({ name, unique, origin }) => ({
        ...(origin === 'c' && { name }),
        unique,
        columns: (database.pragma(`index_info("${name}")`) as Named[]).map((column) => column.name),
      })),
    },
  ]);
  database.close();
  return Object.fromEntries(described) as Record<string, unknown>;
}

interface Named {
  name: string;
  [member: string]: unknown;
}

/** A column that was added later stands last. */
function byName(rows: readonly Named[]): Omit<Named, 'cid' | 'seq'>[] {
  return rows.map(({ cid: _, seq: __, ...row }) => row as Named).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function tablesOf(database: Database.Database): string[] {
  const query =
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'svc_%' order by name";
  return database.prepare(query).pluck().all() as string[];
}

/** Two rows in each table, whose texts and numbers agree, so that each reference finds its row. */
function fill(database: Database.Database): void {
  database.pragma('foreign_keys = off');
  for (const table of tablesOf(database)) {
    const columns = database.pragma(`table_info("${table}")`) as { name: string; type: string }[];
    const names = columns.map(({ name }) => `"${name}"`).join(', ');
    const marks = columns.map(() => '?').join(', ');
    const insert = database.prepare(`insert or ignore into "${table}" (${names}) values (${marks})`);
    for (const [text, number] of [
      ['a', 1],
      ['b', 0],
    ] as const) {
      insert.run(columns.map(({ type }) => (/TEXT/i.test(type) ? text : /BLOB/i.test(type) ? Buffer.from(text) : number)));
    }
  }
}

function dump(database: Database.Database): string {
  const schema = database
    .prepare("select sql from sqlite_schema where sql is not null and name not like 'sqlite_%' order by type desc, name")
    .pluck()
    .all() as string[];
  const all = [...tablesOf(database), 'svc_migrations', 'svc_database'];
  const rows = all.flatMap((table) => {
    const columns = (database.pragma(`table_info("${table}")`) as { name: string }[]).map(({ name }) => `quote("${name}")`);
    const query = `select ${columns.join(` || ', ' || `)} from "${table}" order by 1`;
    return (database.prepare(query).pluck().all() as string[]).map((values) => `insert into "${table}" values (${values})`);
  });
  return [...schema, ...rows].map((statement) => `${statement};\n`).join('');
}

async function write(name: string, isFirst: boolean): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-schema-'));
  const file = join(scratch, 'svc.db');
  const known = allMigrations().map(({ module, migrations }) => ({
    module,
    migrations: isFirst ? migrations.slice(0, 1) : migrations,
  }));
  const storage = createStorage({ url: `sqlite:${file}`, modules: known });
  await storage.open();
  await storage.close();
  const database = new Database(file);
  fill(database);
  writeFileSync(join(folder, name), dump(database), { flag: 'wx' });
  database.close();
  rmSync(scratch, { recursive: true });
}

if (process.argv[1] === import.meta.filename) await write(process.argv[2] ?? '', process.argv.includes('--first'));
