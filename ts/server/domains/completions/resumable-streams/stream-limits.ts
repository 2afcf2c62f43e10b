/** Limits the memory of resumable streams. Sizes count a byte for each character, two in a stream that has wide ones. */
export interface StreamLimits {
  /** How long an answer goes on while nobody reads it, milliseconds; 0: it ends with its client. */
  readonly detachedMs: number;
  /** How long a stream that has ended can be resumed, milliseconds. */
  readonly keepMs: number;
  /** The most that one stream takes. */
  readonly streamBytes: number;
  /** The most that all streams of one tenant take. */
  readonly tenantBytes: number;
  /** The most that all streams take. */
  readonly totalBytes: number;
}

/** A running stream may hold so much whatever others hold, so that a reader that stands still holds up its own stream alone. */
export const LEAST_BYTES = 64 * 1024;

/** Every answer ends with its client. */
export const NO_STREAMS: StreamLimits = { detachedMs: 0, keepMs: 0, streamBytes: 0, tenantBytes: 0, totalBytes: 0 };
