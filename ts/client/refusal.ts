/** A request that was not answered as asked, whatever the shape in which the server said so. */
export class Refusal extends Error {
  readonly status: number;
  /** Machine-readable; `unreachable` where no server was found, `late` where one took the request and said nothing in time. */
  readonly code: string;

  constructor(status: number, code: string, detail: string, options: ErrorOptions = {}) {
    super(detail, options);
    this.status = status;
    this.code = code;
  }

  /** `base`: where the server was looked for; a page has its own words for its own server. */
  static unreachable(cause: unknown, base = ''): Refusal {
    const { message, cause: inner } = cause instanceof Error ? cause : new Error('no answer');
    if (base === '') return new Refusal(0, 'unreachable', '', { cause });
    const { origin } = new URL(base);
    if (isLate(cause))
      return new Refusal(0, 'late', `the server at ${origin} has the request and has not answered in time`, { cause });
    const reason = inner instanceof Error ? inner.message : message;
    return new Refusal(0, 'unreachable', `no server answers at ${origin} (${reason})`, { cause });
  }

  static async from(response: Response): Promise<Refusal> {
    const body = parseJson(await response.text().catch(() => ''));
    return new Refusal(response.status, codeOf(body) ?? String(response.status), sentenceOf(body) ?? '');
  }

  /** The server is away, or asks for a moment: what may be repeated is worth another try. */
  get mayPass(): boolean {
    return this.status === 0 || this.status === 503 || this.code === 'upload_busy' || this.code === 'queue_full';
  }
}

/** Node's fetch waits five minutes for the head of an answer, and as long for each part of it. */
export function isLate(error: unknown): boolean {
  const { name, code, cause } = (error ?? {}) as { name?: unknown; code?: unknown; cause?: unknown };
  if (name === 'TimeoutError' || code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') return true;
  return cause !== undefined && isLate(cause);
}

/** The sentence of either error shape; `detail` may be JSON inside a string. */
export function sentenceOf(body: unknown): string | undefined {
  if (typeof body === 'string') {
    const inner = parseJson(body);
    return typeof inner === 'string' ? inner.slice(0, 500) || undefined : sentenceOf(inner);
  }
  const { error, detail, message } = membersOf(body);
  if (typeof message === 'string') return message;
  return (detail === undefined ? undefined : sentenceOf(detail)) ?? (error === undefined ? undefined : sentenceOf(error));
}

function codeOf(body: unknown): string | undefined {
  const { error } = membersOf(body);
  if (typeof error === 'string') return error;
  const { code, type } = membersOf(error);
  const found = code ?? type;
  return found === undefined || found === null ? undefined : String(found);
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** JSON, or the text where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
