/** `models verify`: are the bytes still the ones that were pulled? */
import { basename } from 'node:path';
import { hashFile } from './files/hash-file.ts';
import { readModelFacts } from './files/model-facts.ts';
import type { LibraryEntry } from './library.ts';

export interface VerifiedFile {
  file: string;
  sha256: string;
  /** The hash that the sidecar remembers; absent for files that were put into the folder by hand. */
  expected?: string;
  state: 'ok' | 'differs' | 'unrecorded';
}

export interface Verification {
  name: string;
  /** `ok`: every hash matches; `unrecorded`: sound files, but no hash to compare with; `failed`: differs, missing or damaged. */
  state: 'ok' | 'unrecorded' | 'failed';
  files: VerifiedFile[];
  problem?: string;
}

export interface VerifyOptions {
  signal?: AbortSignal;
  onProgress?: (file: string, progress: { receivedBytes: number; totalBytes: number }) => void;
}

export async function verifyModel(entry: LibraryEntry, options: VerifyOptions = {}): Promise<Verification> {
  const files: VerifiedFile[] = [];
  for (const path of entry.paths) files.push(await verifyFile(path, entry, options));
  const problem = entry.problem ?? missingFile(entry) ?? (await findDamage(entry)) ?? differing(files);
  if (problem !== undefined) return { name: entry.name, state: 'failed', files, problem };
  const state = files.every((file) => file.state === 'ok') ? 'ok' : 'unrecorded';
  return { name: entry.name, state, files };
}

async function verifyFile(
  path: string,
  { sidecar, sizeBytes }: LibraryEntry,
  { signal, onProgress }: VerifyOptions,
): Promise<VerifiedFile> {
  const file = basename(path);
  const report = (receivedBytes: number) => onProgress?.(file, { receivedBytes, totalBytes: sizeBytes });
  const sha256 = await hashFile(path, { onProgress: report, ...(signal && { signal }) });
  const expected = sidecar?.files?.find((each) => each.file === file)?.sha256;
  if (expected === undefined) return { file, sha256, state: 'unrecorded' };
  return { file, sha256, expected, state: expected === sha256 ? 'ok' : 'differs' };
}

function missingFile({ paths, sidecar }: LibraryEntry): string | undefined {
  const here = new Set(paths.map((path) => basename(path)));
  const missing = sidecar?.files?.find(({ file }) => !here.has(file));
  return missing && `${missing.file} is missing`;
}

async function findDamage({ paths }: LibraryEntry): Promise<string | undefined> {
  for (const path of paths) {
    const damage = await readModelFacts(path).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (damage !== undefined) return damage;
  }
  return undefined;
}

function differing(files: VerifiedFile[]): string | undefined {
  const file = files.find(({ state }) => state === 'differs');
  return file && `${file.file} has SHA-256 ${file.sha256}, but ${file.expected} was recorded`;
}
