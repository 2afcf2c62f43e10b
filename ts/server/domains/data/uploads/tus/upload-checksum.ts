/** `Upload-Checksum` of the tus protocol: an algorithm and the checksum in Base64. */
import { uploadError } from '../upload-errors.ts';

const DIGEST_LENGTHS = { sha256: 44, sha1: 28 } as const;

export const CHECKSUM_ALGORITHMS = Object.keys(DIGEST_LENGTHS) as (keyof typeof DIGEST_LENGTHS)[];

export interface Checksum {
  algorithm: keyof typeof DIGEST_LENGTHS;
  /** Base64. */
  value: string;
}

/** Throws `invalid_request`. */
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
