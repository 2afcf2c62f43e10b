/** A request that was not answered as asked, whatever the shape in which the server said so. */
export class Refusal extends Error {
  readonly status: number;
  /** Machine-readable; `unreachable` where no answer came. */
  readonly code: string;

  constructor(status: number, code: string, detail: string, options: ErrorOptions = {}) {
    super(detail, options);
    this.status = status;
    this.code = code;
  }

  static unreachable(cause: unknown): Refusal {
    return new Refusal(0, 'unreachable', '', { cause });
  }

  static async from(response: Response): Promise<Refusal> {
    const text = await response.text().catch(() => '');
    const body = parse(text);
    const { error, detail } = body;
    const nested = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
    const code = typeof error === 'string' ? error : String(nested?.['code'] ?? nested?.['type'] ?? response.status);
    const sentence = detail ?? nested?.['message'] ?? text.slice(0, 300);
    return new Refusal(response.status, code, String(sentence));
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
