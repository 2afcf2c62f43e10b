/** Headers of the tus protocol. */
import { uploadError } from '../../errors.ts';

const DIGEST_LENGTHS = { sha256: 44, sha1: 28 } as const;

export const CHECKSUM_ALGORITHMS = Object.keys(DIGEST_LENGTHS) as (keyof typeof DIGEST_LENGTHS)[];

export interface Checksum {
  algorithm: keyof typeof DIGEST_LENGTHS;
  /** Base64. */
  value: string;
}

/** `Upload-Checksum`: an algorithm and the checksum in Base64. Throws `invalid_request`. */
export function readChecksum(header: string | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const [name = '', value = ''] = header.trim().split(/ +/);
  const algorithm = CHECKSUM_ALGORITHMS.find((each) => each === name.toLowerCase());
  const isWhole = algorithm !== undefined && value.length === DIGEST_LENGTHS[algorithm] && /^[A-Za-z0-9+/]+=*$/.test(value);
  if (isWhole) return { algorithm, value };
  throw uploadError(
    'invalid_request',
    `Upload-Checksum has to be one of ${CHECKSUM_ALGORITHMS.join(', ')}, a space, and the checksum in Base64.`,
  );
}

const MAX_METADATA = 8_000;

/** `Upload-Metadata`: pairs of a key and a value in Base64. Throws `invalid_request`. */
export function readMetadata(header = ''): Map<string, string> {
  if (header.length > MAX_METADATA) throw wrongMetadata();
  const values = new Map<string, string>();
  for (const pair of header.split(',').map((each) => each.trim())) {
    if (pair === '') continue;
    const [key = '', value = '', ...more] = pair.split(/ +/);
    if (key === '' || more.length > 0 || values.has(key) || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw wrongMetadata();
    values.set(key, decode(value));
  }
  return values;
}

function decode(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'));
  } catch {
    throw wrongMetadata();
  }
}

function wrongMetadata(): Error {
  return uploadError(
    'invalid_request',
    'Upload-Metadata has to be pairs of a key and a value in Base64 (UTF-8), separated by commas: `filename` and `namespace`, and optionally `tenant`, `source` and `sha256`.',
  );
}
