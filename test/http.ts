/** Plain HTTP for black-box tests: one request, the status, the headers and the JSON body. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
  /** Undefined when the body is not JSON. */
  json: Record<string, unknown> | undefined;
  text: string;
}

export async function send(
  url: string,
  { method = 'GET', body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<HttpAnswer> {
  const isText = typeof body === 'string';
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: parseObject(text), text };
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer> {
  return send(url, { method: 'POST', body, headers });
}

/** Posts JSON, or gets it without a body. Throws for any answer that is not 2xx. */
export async function sendJson<T>(url: string, path: string, body?: unknown): Promise<T> {
  const { status, text, json } = await send(url + path, body === undefined ? {} : { method: 'POST', body });
  if (status < 200 || status > 299) throw new Error(`${path} answered ${status}: ${text}`);
  return json as T;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
