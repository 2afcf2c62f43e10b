/** The chunks of a backup folder: each content once, in a file that is named by it. */
import { promisify } from 'node:util';
import { gunzip, gzip, constants as zlib } from 'node:zlib';
import type { BackupFiles } from '../destinations/backup-files.ts';
import { damaged } from '../errors.ts';
import type { Sealing } from './sealing.ts';

/** A multiple of the pages of a database, so that a changed page changes one chunk. */
export const CHUNK_BYTES = 256 * 1024;
/** What sealing and a compression that gains nothing add at most. */
const MAX_FILE_BYTES = CHUNK_BYTES + 4096;
const CHUNK_NAME = /^[0-9a-f]{64}$/;
/** A quarter of what an unused chunk is kept for; see prune.ts. */
const YOUNG_MS = 6 * 3_600_000;

const compress = promisify<Uint8Array, { level: number }, Buffer>(gzip);
const expand = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);

export class ChunkStore {
  readonly #files: BackupFiles;
  readonly #sealing: Sealing;
  /** Names that a distant destination listed, with their age: asking for each would take longer than everything else. */
  #listed: Promise<ReadonlyMap<string, number>> | undefined;

  constructor(files: BackupFiles, sealing: Sealing) {
    this.#files = files;
    this.#sealing = sealing;
  }

  /** How many calls of `put` or `get` should be under way at once. */
  get parallel(): number {
    return this.#files.parallel;
  }

  /** Up to CHUNK_BYTES. `storedBytes` is what the folder grew by: nothing for content that is there. */
  async put(bytes: Uint8Array): Promise<{ name: string; storedBytes: number }> {
    const name = this.#sealing.nameOf(bytes);
    if (await this.#isKept(name)) return { name, storedBytes: 0 };
    const sealed = this.#sealing.seal(await compress(bytes, { level: zlib.Z_BEST_SPEED }), `chunk ${name}`);
    await this.#files.write(chunkPath(name), sealed);
    return { name, storedBytes: sealed.length };
  }

  /** Throws `backup_damaged` for a chunk that is missing or not what its name says. */
  async get(name: string): Promise<Buffer> {
    const sealed = await this.#files.read(chunkPath(name), MAX_FILE_BYTES);
    if (sealed === undefined) throw damaged(`The chunk ${name} is missing.`);
    const compressed = this.#sealing.open(sealed, `chunk ${name}`);
    const bytes = await expand(compressed, { maxOutputLength: CHUNK_BYTES }).catch((cause: unknown) => {
      throw damaged(`The chunk ${name} cannot be expanded.`, cause);
    });
    if (this.#sealing.nameOf(bytes) !== name) throw damaged(`The chunk ${name} has other content than its name says.`);
    return bytes;
  }

  /** The next `put` of its content writes it anew. */
  async delete(name: string): Promise<void> {
    await this.#files.delete(chunkPath(name));
    this.#listed = undefined;
  }

  /** Whether the chunk is there, and young enough that no other process takes it for left over. */
  async #isKept(name: string): Promise<boolean> {
    if (this.#files.parallel === 1) return await this.#files.renew(chunkPath(name));
    this.#listed ??= this.#list();
    const modifiedAt = (await this.#listed).get(name);
    if (modifiedAt === undefined) return false;
    return modifiedAt > Date.now() - YOUNG_MS || (await this.#files.renew(chunkPath(name)));
  }

  async #list(): Promise<ReadonlyMap<string, number>> {
    const files = await this.#files.list('chunks');
    return new Map(files.map(({ path, modifiedAt }) => [path.slice(path.lastIndexOf('/') + 1), modifiedAt]));
  }
}

/** Throws `backup_damaged` for what cannot be the name of a chunk. */
function chunkPath(name: string): string {
  if (!CHUNK_NAME.test(name)) throw damaged('A backup names a chunk that cannot be one.');
  return `chunks/${name.slice(0, 2)}/${name}`;
}
