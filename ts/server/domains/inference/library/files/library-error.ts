export type LibraryErrorCode =
  | 'invalid_name'
  | 'not_found'
  | 'exists'
  | 'in_use'
  | 'read_only'
  | 'not_a_model'
  | 'verification_failed'
  | 'no_space'
  | 'unreachable'
  | 'refused_by_server'
  /** The file is gated: its license must be accepted, and a token sent. */
  | 'permission_needed'
  | 'unsafe_address';

/** Every failure of the model library: a code, a sentence with the cause, and what to do about it. */
export class LibraryError extends Error {
  override readonly name = 'LibraryError';
  readonly code: LibraryErrorCode;
  readonly remedy: string;

  constructor(code: LibraryErrorCode, message: string, remedy: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.remedy = remedy;
  }
}
