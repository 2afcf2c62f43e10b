type GgufErrorCode = 'not_gguf' | 'unsupported_version' | 'truncated' | 'invalid' | 'too_large';

/** A file that is not a sound GGUF; the message names the byte offset and what was expected there. */
export class GgufError extends Error {
  override readonly name = 'GgufError';
  readonly code: GgufErrorCode;
  /** Byte offset in the file at which reading stopped making sense. */
  readonly offset: number;
  readonly expected: string;
  readonly found: string;

  constructor({ code, offset, expected, found }: { code: GgufErrorCode; offset: number; expected: string; found: string }) {
    super(`${label[code]} at byte ${offset}: expected ${expected}, found ${found}`);
    this.code = code;
    this.offset = offset;
    this.expected = expected;
    this.found = found;
  }
}

const label: Record<GgufErrorCode, string> = {
  not_gguf: 'not a GGUF file',
  unsupported_version: 'unsupported GGUF version',
  truncated: 'truncated GGUF file',
  invalid: 'invalid GGUF file',
  too_large: 'GGUF file beyond the reader’s limits',
};
