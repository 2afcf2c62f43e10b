/** What a migration can do to the tables of its module, on either database. */
import { CompiledQuery, type Kysely } from 'kysely';
import { bindKysely, type DialectName } from '../bound-kysely.ts';
import type { ExecuteStatement } from '../statement.ts';
import { StorageError } from '../storage-error.ts';
import { type Column, column, columnSql, quoteName } from './column.ts';
import { tenantPolicySql } from './tenant-policy.ts';

export interface TableDefinition {
  readonly columns: Readonly<Record<string, Column>>;
  /** Needed unless a column is `column.identity()`: copying a database reads tables in this order. */
  readonly primaryKey?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  /** For many small rows that are read by ranges of the primary key: SQLite then keeps them in that tree alone (WITHOUT ROWID). */
  readonly clustered?: boolean;
}

interface IndexOptions {
  readonly unique?: boolean;
  /** SQL that both databases understand; the index then holds only such rows. */
  readonly where?: string;
}

export class MigrationSchema {
  readonly dialect: DialectName;
  readonly #execute: ExecuteStatement;
  readonly #asked: Promise<unknown>[] = [];

  constructor(dialect: DialectName, execute: ExecuteStatement) {
    this.dialect = dialect;
    this.#execute = execute;
  }

  /** Queries, to move data from old columns to new ones. They see the rows of all tenants. */
  db<Tables>(): Kysely<Tables> {
    return bindKysely<Tables>(this.dialect, this.#execute);
  }

  /** Creates a table that belongs to no tenant. */
  async table(name: string, definition: TableDefinition): Promise<void> {
    await this.#run(this.#createTableSql(name, definition));
  }

  /**
   * Creates a table with a column `tenant` in front. On PostgreSQL, row-level security shows and takes only rows of the scope's tenant, even
   * when a store function forgets its WHERE.
   */
  async tenantTable(name: string, { columns, ...rest }: TableDefinition): Promise<void> {
    await this.#run(this.#createTableSql(name, { ...rest, columns: { tenant: column.id(), ...columns } }));
    if (this.dialect === 'postgres') for (const statement of tenantPolicySql(quoteName(name))) await this.#run(statement);
  }

  async addColumn(table: string, name: string, added: Column): Promise<void> {
    if (!added.nullable && added.default === undefined)
      throw invalid(`column ${table}.${name} is added without a default`, 'Give it one, or make it nullable: there may be rows.');
    await this.#run(`alter table ${quoteName(table)} add column ${columnSql(this.dialect, name, added)}`);
  }

  async dropColumn(table: string, name: string): Promise<void> {
    await this.#run(`alter table ${quoteName(table)} drop column ${quoteName(name)}`);
  }

  async renameColumn(table: string, from: string, to: string): Promise<void> {
    await this.#run(`alter table ${quoteName(table)} rename column ${quoteName(from)} to ${quoteName(to)}`);
  }

  async dropTable(name: string): Promise<void> {
    await this.#run(`drop table ${quoteName(name)}`);
  }

  /** Names of indexes are global: begin them with the table's name. */
  async index(name: string, table: string, columns: readonly string[], options: IndexOptions = {}): Promise<void> {
    const kind = options.unique ? 'unique index' : 'index';
    const where = options.where === undefined ? '' : ` where ${options.where}`;
    await this.#run(`create ${kind} ${quoteName(name)} on ${quoteName(table)} (${nameList(columns)})${where}`);
  }

  async dropIndex(name: string): Promise<void> {
    await this.#run(`drop index ${quoteName(name)}`);
  }

  #createTableSql(name: string, { columns, primaryKey, unique = [], clustered = false }: TableDefinition): string {
    const hasIdentity = Object.values(columns).some((one) => one.kind === 'identity');
    if (hasIdentity === (primaryKey !== undefined))
      throw invalid(
        `table ${name} has ${hasIdentity ? 'two primary keys' : 'no primary key'}`,
        'Give it primaryKey or column.identity().',
      );
    const lines = Object.entries(columns).map(([key, one]) => columnSql(this.dialect, key, one));
    if (primaryKey) lines.push(`primary key (${nameList(primaryKey)})`);
    lines.push(...unique.map((key) => `unique (${nameList(key)})`));
    const options = this.dialect === 'sqlite' ? ` strict${clustered ? ', without rowid' : ''}` : '';
    return `create table ${quoteName(name)} (${lines.join(', ')})${options}`;
  }

  /** Until all changes are made, in the order in which they were asked for; those of SQLite, whose thread has a queue, are not waited for one by one. */
  async settled(): Promise<void> {
    await Promise.all(this.#asked.splice(0));
  }

  async #run(sql: string): Promise<void> {
    const asked = this.db().executeQuery(CompiledQuery.raw(sql));
    if (this.dialect === 'postgres') {
      await asked;
      return;
    }
    asked.catch(() => undefined);
    this.#asked.push(asked);
  }
}

function nameList(names: readonly string[]): string {
  return names.map(quoteName).join(', ');
}

function invalid(what: string, remedy: string): StorageError {
  return new StorageError('invalid_migration', `A migration is wrong: ${what}.`, { remedy });
}
