/** What a proxy answers by itself, in the shape of the node's own protocol-layer rejections: `error`, `detail` and a numeric `status`. */
export interface ProxyError {
  status: number;
  error: string;
  detail: string;
}

export const PROXY_ERRORS: readonly ProxyError[] = [
  { status: 400, error: 'bad_request', detail: 'The request could not be parsed.' },
  { status: 403, error: 'forbidden', detail: 'The proxy refuses this request.' },
  { status: 404, error: 'not_found', detail: 'The proxy serves no such host or path.' },
  { status: 405, error: 'method_not_allowed', detail: 'The proxy does not pass this method on.' },
  { status: 408, error: 'request_timeout', detail: 'The request did not arrive in time.' },
  { status: 413, error: 'payload_too_large', detail: 'The body is larger than the proxy takes; use the chunked upload.' },
  { status: 414, error: 'uri_too_long', detail: 'The address of the request is too long.' },
  { status: 421, error: 'misdirected_request', detail: 'This connection is not for that host; open another one.' },
  { status: 429, error: 'too_many_requests', detail: 'Too many requests; retry later.' },
  { status: 431, error: 'request_header_fields_too_large', detail: 'The headers of the request are too large.' },
  { status: 500, error: 'internal', detail: 'Something went wrong in the proxy.' },
  { status: 501, error: 'method_not_implemented', detail: 'The proxy does not implement what the request asks for.' },
  { status: 502, error: 'bad_gateway', detail: 'The node did not answer as it should; retry shortly.' },
  { status: 503, error: 'unavailable', detail: 'The node cannot be reached now; retry shortly.' },
  { status: 504, error: 'gateway_timeout', detail: 'The node did not answer in time.' },
  { status: 505, error: 'http_version_not_supported', detail: 'The proxy speaks HTTP/1.1 and HTTP/2.' },
];

export function proxyErrorBody(error: ProxyError): string {
  return JSON.stringify({ error: error.error, detail: error.detail, status: error.status });
}
