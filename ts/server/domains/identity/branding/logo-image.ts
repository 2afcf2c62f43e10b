/**
 * Makes a safe PNG of a picture that somebody uploaded: decoded and encoded anew by sharp in a process of its own, which can open nothing, write
 * nothing and reach nobody, since decoders of pictures have holes. What the file carried beside its pixels is gone.
 */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { confinedCommand } from '../../../native/confinement.ts';
import { hasImageLibrary, NO_IMAGE_LIBRARY } from '../../../platform/files/image-library.ts';
import { INSTALL_ROOT } from '../../../platform/files/install-root.ts';
import { identityError } from '../errors.ts';

export const MAX_LOGO_BYTES = 1024 * 1024;
/** The encoder's own answer to a bomb; a logo of so many pixels is a few dozen kilobytes. */
const MAX_OUTPUT_BYTES = 512 * 1024;
const TIMEOUT_MS = 20_000;
const LIMITS = { memoryMiB: 1024, cpuSeconds: 10 };

const entry = fileURLToPath(new URL('../../../../workers/encode-logo.ts', import.meta.url));
const sources = [
  join(INSTALL_ROOT, relative(INSTALL_ROOT, entry).split(sep)[0] ?? ''),
  join(INSTALL_ROOT, 'package.json'),
  entry,
];

/** Throws `invalid_logo` for what is no picture that can be used. */
export async function encodeLogo(file: Uint8Array): Promise<Uint8Array> {
  if (file.length === 0) throw invalid('The request has no body; send the file.');
  requireRaster(file);
  if (!hasImageLibrary()) throw invalid(NO_IMAGE_LIBRARY);
  const program = [process.execPath, '--no-warnings', entry];
  const packages = realpathSync(join(INSTALL_ROOT, 'node_modules'));
  const { file: command, args } = confinedCommand(program, { ...LIMITS, readable: [...sources, packages] });
  const output = await run(command, args, file);
  if (output === undefined) throw invalid('The file is damaged, has too many pixels, or is no PNG, JPEG or WebP.');
  return output;
}

/** By its first bytes: the name and the type that a client tells are its own affair. */
function requireRaster(file: Uint8Array): void {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const isPng = bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'));
  const isJpeg = bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'));
  const isWebp = bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP';
  if (isPng || isJpeg || isWebp) return;
  const start = bytes.subarray(0, 4096).toString('utf8');
  if (/<svg|<\?xml|<!doctype/i.test(start))
    throw invalid('SVG is not taken, since it can hold scripts and addresses. Send a PNG of it.');
  throw invalid('The file is no PNG, JPEG or WebP.');
}

/** Undefined: the process did not make a picture. */
function run(command: string, args: readonly string[], input: Uint8Array): Promise<Uint8Array | undefined> {
  const child = spawn(command, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], timeout: TIMEOUT_MS, killSignal: 'SIGKILL' });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      if (sizeBytes <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const isWhole = code === 0 && sizeBytes > 0 && sizeBytes <= MAX_OUTPUT_BYTES;
      resolve(isWhole ? Buffer.concat(chunks) : undefined);
    });
    // A process that ended before it read everything is told of by its exit status.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

function invalid(sentence: string): Error {
  return identityError('invalid_logo', sentence);
}
