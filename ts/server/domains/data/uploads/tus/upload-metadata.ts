/** `Upload-Metadata` of the tus protocol: pairs of a key and a value in Base64. */
import { uploadError } from '../upload-errors.ts';

const MAX_LENGTH = 8_000;

/** Throws `invalid_request`. */
export function readMetadata(header = ''): Map<string, string> {
  if (header.length > MAX_LENGTH) throw wrong();
  const values = new Map<string, string>();
  for (const pair of header.split(',').map((each) => each.trim())) {
    if (pair === '') continue;
    const [key = '', value = '', ...more] = pair.split(/ +/);
    if (key === '' || more.length > 0 || values.has(key) || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw wrong();
    values.set(key, decode(value));
  }
  return values;
}

function decode(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'));
  } catch {
    throw wrong();
  }
}

function wrong(): Error {
  return uploadError(
    'invalid_request',
    'Upload-Metadata has to be pairs of a key and a value in Base64 (UTF-8), separated by commas: `filename` and `namespace`, and optionally `tenant`, `source` and `sha256`.',
  );
}
