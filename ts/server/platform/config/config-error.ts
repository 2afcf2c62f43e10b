/** A setting that cannot be used. The message names the key, the value, where it came from and what is accepted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_config';
  /** What to do, where that is not to correct the value. */
  readonly remedy: string | undefined;

  constructor(message: string, { cause, remedy }: { cause?: unknown; remedy?: string } = {}) {
    super(message, { cause });
    this.remedy = remedy;
  }
}
