/** Whether an answer is one that openapi.json documents, its status for that path and method and its code, and no fault of the server. */
export interface Answer {
  method: string;
  path: string;
  status: number;
  body: string;
  /** Seconds, of the header Retry-After. */
  retryAfter?: string | undefined;
}

interface OpenApi {
  paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
  components?: { responses?: Record<string, unknown>; schemas?: Record<string, unknown> };
}

export class Contract {
  readonly #openApi: OpenApi;
  readonly #text: string;

  constructor(openApi: unknown) {
    this.#openApi = openApi as OpenApi;
    this.#text = JSON.stringify(openApi);
  }

  /** Undefined when the answer is documented, else what is wrong with it. */
  findFault(answer: Answer): string | undefined {
    const operation = this.#openApi.paths[answer.path]?.[answer.method.toLowerCase()];
    const { status } = answer;
    // The reference documents that a fault of the server is answered with 500; no request may bring one about.
    if (status >= 500 && status !== 503) return `status ${status} is a fault: ${answer.body.slice(0, 200)}`;
    if (status === 503 && answer.retryAfter === undefined) return 'status 503 without Retry-After';
    if (status < 400) return operation?.responses?.[status] ? undefined : `status ${status} is not documented`;
    const code = readCode(answer.body);
    if (code === undefined) return `status ${status} without an error code: ${answer.body.slice(0, 200)}`;
    if (!this.#text.includes(code)) return `the code ${code} is not documented`;
    if (operation && !operation.responses?.[status]) return `status ${status} (${code}) is not documented for this operation`;
    return undefined;
  }
}

function readCode(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown };
    if (typeof error === 'string') return error;
    const code = (error as { code?: unknown } | null | undefined)?.code;
    return typeof code === 'string' ? code : undefined;
  } catch {
    return undefined;
  }
}
