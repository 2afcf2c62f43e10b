/** A native Status as it crosses the boundary: native/common/status.h. */
export interface NativeStatus {
  code: NativeErrorCode;
  text: string;
  /** Numbers that the code implies, for example nPromptTokens and nCtx of context_length_exceeded. */
  details?: Record<string, number>;
}

export type NativeErrorCode =
  | 'invalid_argument'
  | 'model_not_found'
  | 'model_invalid'
  | 'draft_model_incompatible'
  | 'load_aborted'
  | 'out_of_memory'
  | 'unsupported'
  | 'template_failed'
  | 'invalid_grammar'
  | 'grammar_too_complex'
  | 'invalid_media'
  | 'index_not_found'
  | 'index_invalid'
  | 'index_write_failed'
  | 'context_length_exceeded'
  | 'queue_full'
  | 'deadline_exceeded'
  | 'closed'
  /** A file of a loaded model is not what it was. */
  | 'model_file_changed'
  /** A GPU failed while it computed. */
  | 'device_failed'
  | 'notify_failed'
  | 'internal';

/** What every native failure becomes in TypeScript. */
export class NativeError extends Error {
  override readonly name = 'NativeError';
  readonly code: NativeErrorCode;
  readonly details: Record<string, number>;

  constructor({ code, text, details = {} }: NativeStatus) {
    super(text);
    this.code = code;
    this.details = details;
  }
}
