/** Keeps what probes found by the hash of the model's file: a copy under another name is not probed again. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import { hashFile } from '../library/files/hash-file.ts';
import type { StoredModel } from '../models/model-source.ts';
import { Abilities } from './abilities.ts';

/** Raise it when the tasks change, so that old results are not compared with new ones. */
const FORMAT = 1;

const schema = compileLazily(
  Type.Object({
    format: Type.Literal(FORMAT),
    abilities: Type.Record(Type.String(), Abilities),
    files: Type.Record(Type.String(), Type.Object({ stamp: Type.String(), sha256: Type.String() })),
  }),
);

type ProbedFile = Pick<StoredModel, 'path' | 'sizeBytes' | 'createdAt' | 'sha256'>;

export class ProbeResults {
  readonly #file: string;
  readonly #abilities = new Map<string, Abilities>();
  /** The hashes of files by path. */
  readonly #files = new Map<string, { stamp: string; sha256: string }>();
  #isRead = false;

  /** Their file lies in the node's folder of data. It is read when something is asked, and written when something is found. */
  constructor(dataDir: string) {
    this.#file = join(dataDir, 'probed-models.json');
  }

  /** Undefined: it was not probed. */
  find(model: ProbedFile): Abilities | undefined {
    const sha256 = this.knownHash(model);
    return sha256 === undefined ? undefined : this.#abilities.get(sha256);
  }

  /** SHA-256 of a file as it was when it came or was last hashed; undefined: it never was. */
  knownHash(model: ProbedFile): string | undefined {
    this.#read();
    const known = this.#files.get(model.path);
    return known?.stamp === stampOf(model) ? known.sha256 : model.sha256;
  }

  /** The same for a file of which nothing is known yet, which is read for it. */
  async findByContent(model: ProbedFile, signal: AbortSignal): Promise<Abilities | undefined> {
    const found = this.find(model);
    if (found !== undefined) return found;
    const known = this.#abilities.get(await this.#hashOf(model, signal));
    if (known !== undefined) await this.#write();
    return known;
  }

  async keep(model: ProbedFile, abilities: Abilities, signal: AbortSignal): Promise<void> {
    this.#read();
    this.#abilities.set(await this.#hashOf(model, signal), abilities);
    await this.#write();
  }

  /** SHA-256 of the file, which is kept as long as the file stays. */
  async hashOf(model: ProbedFile, signal: AbortSignal): Promise<string> {
    this.#read();
    const isKnown = this.#files.get(model.path)?.stamp === stampOf(model);
    const sha256 = await this.#hashOf(model, signal);
    if (!isKnown) await this.#write();
    return sha256;
  }

  async #hashOf(model: ProbedFile, signal: AbortSignal): Promise<string> {
    const stamp = stampOf(model);
    const known = this.#files.get(model.path);
    const sha256 = model.sha256 ?? (known?.stamp === stamp ? known.sha256 : await hashFile(model.path, { signal }));
    this.#files.set(model.path, { stamp, sha256 });
    return sha256;
  }

  #read(): void {
    if (this.#isRead) return;
    this.#isRead = true;
    try {
      const kept: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      if (!schema.Check(kept)) return;
      const { abilities, files } = kept as {
        abilities: Record<string, Abilities>;
        files: Record<string, { stamp: string; sha256: string }>;
      };
      for (const [sha256, each] of Object.entries(abilities)) this.#abilities.set(sha256, each);
      for (const [path, each] of Object.entries(files)) this.#files.set(path, each);
    } catch {
      // It is not there yet, or damaged: models are probed again.
    }
  }

  async #write(): Promise<void> {
    const kept = { format: FORMAT, abilities: Object.fromEntries(this.#abilities), files: Object.fromEntries(this.#files) };
    await writeFileAtomically(this.#file, JSON.stringify(kept));
  }
}

function stampOf({ sizeBytes, createdAt }: ProbedFile): string {
  return `${sizeBytes}:${createdAt}`;
}
