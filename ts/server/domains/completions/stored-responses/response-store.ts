/** Kept responses in the database. A write that resolved is on disk. */
import type { Kysely } from 'kysely';
import type { Storage, StorageAccess, TenantScope } from '../../../platform/storage/index.ts';
import type { KeptItem, KeptResponse, NewResponse, ResponseEnd } from './kept-response.ts';
import { type ChainRequest, type ResponseChain, readChain, readChainRequests } from './response-chain.ts';
import { endMembers, newRow, type ResponseTables, shownColumns, toKeptResponse } from './response-tables.ts';

export class ResponseStore {
  readonly #access: StorageAccess<ResponseTables>;

  constructor(storage: Storage) {
    this.#access = storage.access<ResponseTables>();
  }

  /** Keeps a response that has ended. */
  async insert(scope: TenantScope, response: NewResponse, end: ResponseEnd): Promise<void> {
    const row = newRow(scope, response);
    const ended = endMembers(end);
    const n_bytes = row.n_bytes + Buffer.byteLength(ended.output);
    await this.#access.writeUnit(scope, (db) => [db.insertInto('responses').values({ ...row, ...ended, n_bytes })]);
  }

  async find(scope: TenantScope, id: string): Promise<KeptResponse | undefined> {
    return await this.#access.read(scope, async (db) => {
      const row = await rowOf(db, scope, id).select(shownColumns).executeTakeFirst();
      return row && toKeptResponse(row);
    });
  }

  async findInput(scope: TenantScope, id: string): Promise<KeptItem[] | undefined> {
    return await this.#access.read(scope, async (db) => {
      const row = await rowOf(db, scope, id).select('input').executeTakeFirst();
      return row && (JSON.parse(row.input) as KeptItem[]);
    });
  }

  /** The response and those that it continues. */
  async findChain(scope: TenantScope, id: string): Promise<ResponseChain> {
    return await this.#access.read(scope, (db) => readChain(db, scope, id));
  }

  /** Finds the requests of the response and of those that it continues. Returns undefined when not all of them are known. */
  async findChainRequests(scope: TenantScope, id: string): Promise<ChainRequest[] | undefined> {
    return await this.#access.read(scope, (db) => readChainRequests(db, scope, id));
  }

  /** Erases a response with its events. False: it is not there. */
  async delete(scope: TenantScope, id: string): Promise<boolean> {
    const [result] = await this.#access.writeUnit(scope, (db) => [
      db.deleteFrom('responses').where('tenant', '=', scope.tenant).where('id', '=', id),
    ]);
    return result?.affectedRows === 1;
  }
}

function rowOf(db: Kysely<ResponseTables>, { tenant }: TenantScope, id: string) {
  return db.selectFrom('responses').where('tenant', '=', tenant).where('id', '=', id);
}
