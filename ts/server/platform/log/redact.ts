/** Keeps secrets out of the log, whoever puts them into a field. */

const SECRET_NAME =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api[_-]?key|password|(?:client[_-]?)?secret|(?:(?:id|access|refresh)[_-]?)?token|code[_-]?verifier|provider[_-]?key)$/i;
/** Bearer credentials and the usual key prefixes inside free text. */
const SECRET_TEXT = /\b(Bearer\s+)[\w.~+/=-]{8,}|\b(sk-|svc[srli]?_|hf_)[\w-]{8,}/g;
const MASK = '[redacted]';
const MAX_DEPTH = 4;

/** A copy that is safe to log: secrets masked, errors unfolded, depth bounded. */
export function redact(fields: Readonly<Record<string, unknown>>, depth = 0): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) safe[name] = SECRET_NAME.test(name) ? MASK : redactValue(value, depth);
  }
  return safe;
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Error) return describeError(value, depth);
  if (depth >= MAX_DEPTH) return '[deep]';
  if (Array.isArray(value)) return value.slice(0, 50).map((item) => redactValue(item, depth + 1));
  return redact(value as Record<string, unknown>, depth + 1);
}

export function redactText(text: string): string {
  return text.replace(SECRET_TEXT, (_match, bearer?: string, prefix?: string) => `${bearer ?? prefix ?? ''}${MASK}`);
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const cause = error.cause === undefined || depth >= MAX_DEPTH ? {} : { cause: redactValue(error.cause, depth + 1) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  return { name: error.name, ...code, message: redactText(error.message), stack: redactText(error.stack ?? ''), ...cause };
}
