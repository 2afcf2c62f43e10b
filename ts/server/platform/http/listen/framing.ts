/**
 * Request framing that two parties could read differently (RFC 9112 sections 3.2, 5 and 6; request smuggling).
 * What the library hides from JavaScript (bytes after a chunk's data, bare LF in chunk lines) cannot be judged here.
 */

/** Why a request is refused before routing. */
export interface FramingFault {
  status: 400 | 501;
  code: 'ambiguous_framing' | 'invalid_host' | 'invalid_method' | 'method_not_implemented';
  detail: string;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$/;
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
/** Narrower than RFC 3986: sub-delimiters such as the comma name no real host and help to hide a second one. */
const REGISTERED_NAME = /^[A-Za-z0-9._~%-]{1,255}(:\d{0,5})?$/;
const IP_LITERAL = /^\[[0-9A-Fa-f:.]{2,45}(%25[A-Za-z0-9._~-]+)?\](:\d{0,5})?$/;
/** Not toLowerCase(): it would fold the Kelvin sign into k. The i flag without u does not. */
const CHUNKED = /^chunked$/i;
const DIGITS = /^\d{1,15}$/;

/** Fields are name, value, name, value ... as they came, with lowercase names. Undefined: the framing is plain. */
export function findFramingFault(method: string, fields: readonly string[]): FramingFault | undefined {
  let contentLength: string | undefined;
  let transferEncoding: string | undefined;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i];
    const value = fields[i + 1] ?? '';
    if (name === 'host') {
      if (!REGISTERED_NAME.test(value) && !IP_LITERAL.test(value)) return invalidHost();
    } else if (name === 'content-length') {
      if (contentLength !== undefined) return ambiguous('Content-Length is given more than once.');
      if (!DIGITS.test(value)) return ambiguous('Content-Length must be one decimal number of bytes.');
      contentLength = value;
    } else if (name === 'transfer-encoding') {
      if (transferEncoding !== undefined) return ambiguous('Transfer-Encoding is given more than once.');
      if (!CHUNKED.test(value)) return ambiguous('The only Transfer-Encoding accepted is chunked.');
      transferEncoding = value;
    }
  }
  if (contentLength !== undefined && transferEncoding !== undefined) {
    return ambiguous('Content-Length and Transfer-Encoding exclude each other.');
  }
  if (KNOWN_METHODS.has(method)) {
    const hasBody = transferEncoding !== undefined || (contentLength !== undefined && Number(contentLength) > 0);
    return method === 'HEAD' && hasBody ? ambiguous('A HEAD request must not carry a body.') : undefined;
  }
  return badMethod(method);
}

function ambiguous(detail: string): FramingFault {
  return { status: 400, code: 'ambiguous_framing', detail };
}

function invalidHost(): FramingFault {
  return { status: 400, code: 'invalid_host', detail: 'The Host header must name one host, optionally with a port.' };
}

function badMethod(method: string): FramingFault {
  if (!TOKEN.test(method)) return { status: 400, code: 'invalid_method', detail: 'The request method is not a valid token.' };
  const detail = `The method ${method} is not implemented; methods are written in capitals, for example GET or POST.`;
  return { status: 501, code: 'method_not_implemented', detail };
}
