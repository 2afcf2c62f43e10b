/** What was measured of embedding models, in a file of the node's data folder: once for each model file and what stands before its texts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { writeFileAtomically } from '../../../platform/files/atomic-file.ts';
import { compileLazily } from '../../../platform/schema/compile-lazily.ts';
import type { MeasuredSimilarity } from './similarity-scale.ts';

/** Raise it when the texts change that are measured by. */
const FORMAT = 1;

const schema = compileLazily(
  Type.Object({
    format: Type.Literal(FORMAT),
    measured: Type.Record(Type.String(), Type.Object({ unrelated: Type.Number(), related: Type.Number() })),
  }),
);

export class MeasuredEmbedders {
  readonly #file: string;
  #measured: Map<string, MeasuredSimilarity> | undefined;

  constructor(dataDir: string) {
    this.#file = join(dataDir, 'measured-embedders.json');
  }

  find(key: string): MeasuredSimilarity | undefined {
    return this.#read().get(key);
  }

  async keep(key: string, measured: MeasuredSimilarity): Promise<void> {
    const all = this.#read().set(key, measured);
    await writeFileAtomically(this.#file, JSON.stringify({ format: FORMAT, measured: Object.fromEntries(all) }));
  }

  #read(): Map<string, MeasuredSimilarity> {
    this.#measured ??= new Map(Object.entries(readMeasured(this.#file)));
    return this.#measured;
  }
}

/** A file that is not there yet, or damaged: models are measured again. */
function readMeasured(file: string): Readonly<Record<string, MeasuredSimilarity>> {
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return schema.Check(kept) ? (kept as { measured: Record<string, MeasuredSimilarity> }).measured : {};
  } catch {
    return {};
  }
}
