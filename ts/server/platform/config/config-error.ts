/** A setting that cannot be used. The message names the key, the value, where it came from and what is accepted. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'invalid_config';
}
