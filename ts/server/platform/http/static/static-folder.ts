/** The files of one built folder, each read and compressed once and kept in memory. */
import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { mediaTypeOf } from './media-type.ts';

export interface StaticFile {
  contentType: string;
  /** Codings that can be asked for beside `identity`. */
  codings: readonly ContentCoding[];
  /** Changes with the content: a hash. */
  tag: string;
  bytes(coding: ContentCoding): Promise<Uint8Array>;
}

/** Compressed on a thread of libuv's pool. */
const compressors: Readonly<Record<'br' | 'gzip', (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 9 }),
};
const SUFFIXES: Readonly<Record<'br' | 'gzip', string>> = { br: '.br', gzip: '.gz' };
/** Each name on the way; no dot comes first, so that neither `..` nor hidden files can be named. */
const NAME = /^[A-Za-z0-9_@+~-][A-Za-z0-9._@+~-]{0,199}$/;
/** A larger file has no place in a page, and would stay in memory. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;
/** Below this, a compressed answer takes as many packets as the plain one. */
const MIN_COMPRESSED_BYTES = 1024;

interface Entry {
  signature: string;
  file: Promise<StaticFile>;
}

export class StaticFolder {
  readonly #folder: string;
  /** The entries by real path: links can give a file any number of names. */
  readonly #entries = new Map<string, Entry>();

  /** The folder is first looked at when a file is asked for. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** `path` is decoded, without a slash at the beginning. Undefined: the folder holds no such file. A changed file is read again. */
  async find(path: string): Promise<StaticFile | undefined> {
    if (!path.split('/').every((name) => NAME.test(name))) return undefined;
    const real = await this.#resolve(path);
    if (real === undefined) return undefined;
    const facts = await stat(real);
    if (!facts.isFile() || facts.size > MAX_FILE_BYTES) return undefined;
    const signature = `${facts.ino}:${facts.size}:${facts.mtimeMs}`;
    const known = this.#entries.get(real);
    if (known?.signature === signature) return known.file;
    const entry = { signature, file: readStaticFile(real) };
    this.#entries.set(real, entry);
    entry.file.catch(() => this.#entries.delete(real));
    return entry.file;
  }

  /** A link may lead to another name of the folder, and not out of it. */
  async #resolve(path: string): Promise<string | undefined> {
    try {
      const root = await realpath(this.#folder);
      const real = await realpath(join(root, path));
      return real.startsWith(root + sep) ? real : undefined;
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  }
}

/** Chooses the coding for a client that sent this Accept-Encoding. */
export function codingFor(file: StaticFile, acceptEncoding: string | undefined): ContentCoding {
  return chooseCoding(acceptEncoding, file.codings);
}

async function readStaticFile(path: string): Promise<StaticFile> {
  const plain = await readFile(path);
  const { type, compresses } = mediaTypeOf(path);
  const codings: ContentCoding[] = compresses && plain.length >= MIN_COMPRESSED_BYTES ? ['br', 'gzip'] : [];
  const known = new Map<ContentCoding, Promise<Uint8Array>>([['identity', Promise.resolve(plain)]]);
  const bytes = (coding: ContentCoding): Promise<Uint8Array> => {
    const found = known.get(coding);
    if (found !== undefined || coding === 'identity') return found ?? Promise.resolve(plain);
    const compressed = compress(path, plain, coding);
    known.set(coding, compressed);
    compressed.catch(() => known.delete(coding));
    return compressed;
  };
  const tag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { contentType: type, codings, tag, bytes };
}

/** The file that the build wrote beside, if it is not older, or what is compressed now. */
async function compress(path: string, plain: Uint8Array, coding: 'br' | 'gzip'): Promise<Uint8Array> {
  const prepared = path + SUFFIXES[coding];
  try {
    const [facts, own] = await Promise.all([stat(prepared), stat(path)]);
    if (facts.isFile() && facts.size <= MAX_FILE_BYTES && facts.mtimeMs >= own.mtimeMs) return await readFile(prepared);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return compressors[coding](plain);
}

/** Chooses the content coding that a client wants (RFC 9110 section 12.5.3). */
type ContentCoding = 'br' | 'gzip' | 'identity';

const WEIGHTED = /^([!#$%&'*+.^_`|~\w-]+|\*)\s*(?:;\s*q\s*=\s*(\d(?:\.\d{0,3})?))?$/i;

/** The best of the offered codings, which come in the server's order; of equally welcome ones the first. `identity` where none is welcome. */
export function chooseCoding(header: string | undefined, offered: readonly ContentCoding[]): ContentCoding {
  const weights = readWeights(header);
  const weightOf = (coding: ContentCoding): number =>
    weights.get(coding) ?? (coding === 'identity' ? (weights.get('*') ?? MIN_WEIGHT) : (weights.get('*') ?? 0));
  let best: ContentCoding = 'identity';
  let bestWeight = weightOf('identity');
  for (const coding of offered) {
    const weight = weightOf(coding);
    if (weight > 0 && (weight > bestWeight || (best === 'identity' && weight === bestWeight))) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}

/** Identity is acceptable where it is not mentioned, and less welcome than anything that is. */
const MIN_WEIGHT = 0.0001;

/** Lowercase names to weights from 0 to 1. */
function readWeights(header: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const entry of (header ?? '').slice(0, 1000).split(',')) {
    const [, name, weight] = WEIGHTED.exec(entry.trim()) ?? [];
    if (name === undefined) continue;
    const lower = name.toLowerCase();
    weights.set(lower === 'x-gzip' ? 'gzip' : lower, Math.min(1, Number(weight ?? 1)));
  }
  return weights;
}
