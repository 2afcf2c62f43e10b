/** The JSON body of a refusal. The default is flat; a module that imitates a foreign API declares the shape of that API. */
import type { HttpError } from './errors.ts';

export interface ErrorBody {
  /** The schema is published as `Error_<name>` in the OpenAPI document. */
  name: string;
  /** JSON Schema of what `write` returns. */
  schema: Readonly<Record<string, unknown>>;
  /** Every shape carries the code and a sentence in `detail`. `path` is the path of the request. */
  write(error: HttpError, path: string): Record<string, unknown>;
  /** The last frame of an event stream that this refusal ends; an event `error` unless the API has another form. */
  writeFrame?(error: HttpError, path: string): string;
}

/** The shape of refusals under a prefix where no route claims the path. */
export interface ErrorBodyPrefix {
  /** `/v1/messages` covers that path and those below it; `/v1/` covers those below it only. The longest prefix decides. */
  prefix: string;
  errorBody: ErrorBody;
  /** A sentence that says what serves in place of the path. */
  instead?: string;
}

const text = { type: 'string' };

export const flatErrorBody: ErrorBody = {
  name: 'flat',
  schema: {
    type: 'object',
    required: ['error', 'detail', 'path'],
    properties: {
      error: { ...text, description: 'Short code to match on.' },
      detail: { ...text, description: 'Sentence for people.' },
      path: text,
      status: { type: 'integer', description: 'On protocol-layer rejections.' },
      module: { ...text, description: 'On missing routes of a loaded module.' },
      method: text,
    },
  },
  write: (error, path) => ({ error: error.code, detail: error.message, path, ...error.extra }),
};

export function errorFrame(shape: ErrorBody, error: HttpError, path: string): string {
  return shape.writeFrame?.(error, path) ?? `event: error\ndata: ${JSON.stringify(shape.write(error, path))}\n\n`;
}

/** What is said of a path that no route claims. */
export function prefixOfPath(prefixes: readonly ErrorBodyPrefix[], path: string): ErrorBodyPrefix | undefined {
  let longest: ErrorBodyPrefix | undefined;
  for (const entry of prefixes) {
    if (covers(entry.prefix, path) && entry.prefix.length > (longest?.prefix.length ?? 0)) longest = entry;
  }
  return longest;
}

function covers(prefix: string, path: string): boolean {
  if (!path.startsWith(prefix)) return false;
  return prefix.endsWith('/') || path.length === prefix.length || path[prefix.length] === '/';
}
