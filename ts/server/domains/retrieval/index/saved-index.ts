/**
 * The index of a collection in a folder of its own: `index`, with documents and terms, names the file of the vectors beside it. It is
 * written last, so a folder holds a whole index or the one before.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { TERMS_VERSION } from '../terms/term-vector.ts';
import { type Column, ColumnFileError, readColumnFile, writeColumnFile } from './column-file.ts';
import type { LexicalParts } from './lexical-index.ts';
import type { SegmentParts } from './posting-segment.ts';
import type { SavableVectors } from './vector-index.ts';

/** What of a collection is written beside its vectors, as it was at one moment. */
export interface IndexParts {
  /** By slot: the document and which of its passages. */
  readonly documents: Float64Array<ArrayBuffer>;
  readonly seqs: Uint32Array<ArrayBuffer>;
  /** Numbers of documents, and by place what tells each from others that had its number. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly marks: Float64Array<ArrayBuffer>;
  readonly lexical: LexicalParts;
}

interface SavedIndex {
  readonly parts: IndexParts;
  /** Undefined: the collection has none. */
  readonly vectors: { readonly path: string; readonly dimensions: number } | undefined;
}

interface About {
  readonly label: string;
  readonly termsVersion: number;
  readonly vectors: { readonly name: string; readonly dimensions: number } | null;
}

const NAME = 'index';
const VECTORS_NAME = /^vectors-[0-9a-f]{16}$/;
const INDEX_COLUMNS = 7;
const SEGMENT_COLUMNS = 4;

/** Rejects with NativeError, and with what the system says. What was there before stays then. */
export async function saveIndex(
  folder: string,
  label: string,
  parts: IndexParts,
  vectors: SavableVectors | undefined,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `vectors-${randomBytes(8).toString('hex')}`;
  await vectors?.save(join(folder, name));
  const about: About = {
    label,
    termsVersion: TERMS_VERSION,
    vectors: vectors === undefined ? null : { name, dimensions: vectors.dimensions },
  };
  await writeColumnFile(join(folder, NAME), about, columnsOf(parts));
  for (const other of await readdir(folder))
    if (other.startsWith('vectors-') && other !== name) await rm(join(folder, other), { force: true });
}

/** Undefined: there is none. Throws ColumnFileError, and what the system says. */
export async function readSavedIndex(folder: string, label: string): Promise<SavedIndex | undefined> {
  const file = await readColumnFile(join(folder, NAME));
  if (file === undefined) return undefined;
  const about = file.about as Partial<About> | null;
  if (about?.label !== label) throw new ColumnFileError('it is of another knowledge base');
  if (about.termsVersion !== TERMS_VERSION) throw new ColumnFileError('its terms are of another version');
  const { name, dimensions } = about.vectors ?? {};
  if (about.vectors && !(VECTORS_NAME.test(String(name)) && Number.isInteger(dimensions)))
    throw new ColumnFileError('it is damaged');
  const vectors = about.vectors ? { path: join(folder, about.vectors.name), dimensions: about.vectors.dimensions } : undefined;
  return { parts: partsOf(file.columns), vectors };
}

function columnsOf({ documents, seqs, numbers, marks, lexical }: IndexParts): Column[] {
  const { stems, grams, isLive, segments } = lexical;
  const ofSegments = segments.flatMap(({ slots, hashes, offsets, postings }) => [slots, hashes, offsets, postings]);
  return [documents, seqs, numbers, marks, stems, grams, isLive, ...ofSegments] as Column[];
}

function partsOf(columns: readonly Column[]): IndexParts {
  const [documents, seqs, numbers, marks, stems, grams, isLive] = columns;
  const rest = columns.slice(INDEX_COLUMNS);
  const isRight =
    documents instanceof Float64Array &&
    seqs instanceof Uint32Array &&
    numbers instanceof Float64Array &&
    marks instanceof Float64Array &&
    stems instanceof Uint32Array &&
    grams instanceof Uint32Array &&
    isLive instanceof Uint8Array &&
    seqs.length === documents.length &&
    marks.length === numbers.length &&
    isLive.length >= documents.length &&
    rest.length % SEGMENT_COLUMNS === 0 &&
    rest.every((column) => column instanceof Uint32Array);
  if (!isRight) throw new ColumnFileError('it is damaged');
  const segments = Array.from({ length: rest.length / SEGMENT_COLUMNS }, (_, i): SegmentParts => {
    const [slots, hashes, offsets, postings] = rest.slice(i * SEGMENT_COLUMNS) as Uint32Array[];
    const none = new Uint32Array(0);
    return { slots: slots ?? none, hashes: hashes ?? none, offsets: offsets ?? none, postings: postings ?? none };
  });
  return { documents, seqs, numbers, marks, lexical: { stems, grams, isLive, segments } };
}
