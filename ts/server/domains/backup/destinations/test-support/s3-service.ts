/** A small S3 service that proves signatures by itself, keeps objects in memory, and can be told to misbehave. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export const KEYS = { accessKeyId: 'AKIATESTTESTTESTTEST', secretAccessKey: 'a/secret+key/of/the/tests' };
const PAGE = 7;

/** Takes the request over and answers it, or leaves it to the service. */
type Fault = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface S3Service {
  readonly endpoint: string;
  /** By bucket and key: `bucket/key`. */
  readonly objects: Map<string, { bytes: Buffer; modifiedAt: number }>;
  /** Method and path of each request that was answered. */
  readonly requests: string[];
  fault: Fault | undefined;
}

export async function startS3Service(t: Test, bucket: string): Promise<S3Service> {
  const objects: S3Service['objects'] = new Map();
  const requests: string[] = [];
  const service = { endpoint: '', objects, requests, fault: undefined as Fault | undefined };
  const server = createServer(async (request, response) => {
    if (service.fault?.(request, response) === true) return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const url = new URL(request.url ?? '', service.endpoint);
    requests.push(`${request.method} ${url.pathname}`);
    const refuse = (status: number, code: string): void =>
      void response.writeHead(status).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
    if (!isSigned(request, url, body)) return refuse(403, 'SignatureDoesNotMatch');
    const [, named = '', ...key] = url.pathname.split('/').map(decodeURIComponent);
    if (named !== bucket) return refuse(404, 'NoSuchBucket');
    const name = `${bucket}/${key.join('/')}`;
    if (request.method === 'GET' && key.length === 0) return void response.end(listing(objects, bucket, url.searchParams));
    if (request.method === 'PUT') {
      const from = request.headers['x-amz-copy-source'];
      const bytes = from === undefined ? body : objects.get(decodeURIComponent(String(from)).slice(1))?.bytes;
      if (bytes === undefined) return refuse(404, 'NoSuchKey');
      objects.set(name, { bytes, modifiedAt: Date.now() });
      return void response.end(from === undefined ? '' : '<CopyObjectResult><ETag>x</ETag></CopyObjectResult>');
    }
    if (request.method === 'DELETE') {
      objects.delete(name);
      return void response.writeHead(204).end();
    }
    const found = objects.get(name);
    if (found === undefined) return refuse(404, 'NoSuchKey');
    response.end(found.bytes);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  service.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return service;
}

function listing(objects: S3Service['objects'], bucket: string, query: URLSearchParams): string {
  const prefix = `${bucket}/${query.get('prefix') ?? ''}`;
  const names = [...objects.keys()].filter((name) => name.startsWith(prefix)).sort();
  const from = Number(query.get('continuation-token') ?? 0);
  const isTruncated = names.length > from + PAGE;
  const contents = names.slice(from, from + PAGE).map((name) => {
    const time = new Date(objects.get(name)?.modifiedAt ?? 0).toISOString();
    const key = name
      .slice(bucket.length + 1)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;');
    return `<Contents><Key>${key}</Key><LastModified>${time}</LastModified><Size>1</Size></Contents>`;
  });
  const next = isTruncated ? `<NextContinuationToken>${from + PAGE}</NextContinuationToken>` : '';
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
}

/** Written from the specification by other means than the client, so that both cannot be wrong alike unnoticed. */
function isSigned(request: IncomingMessage, url: URL, body: Buffer): boolean {
  const [, credential = '', names = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    ) ?? [];
  const [id, date = '', region = '', serviceName = '', end = ''] = credential.split('/');
  const hash = createHash('sha256').update(body).digest('hex');
  if (id !== KEYS.accessKeyId || request.headers['x-amz-content-sha256'] !== hash) return false;
  const query = url.search.slice(1).split('&').filter(Boolean).sort().join('&');
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name]).trim()}\n`);
  const canonical = `${request.method}\n${url.pathname}\n${query}\n${headers.join('')}\n${names}\n${hash}`;
  const scope = `${date}/${region}/${serviceName}/${end}`;
  const text = `AWS4-HMAC-SHA256\n${request.headers['x-amz-date']}\n${scope}\n${createHash('sha256').update(canonical).digest('hex')}`;
  const hmac = (key: string | Buffer, value: string): Buffer => createHmac('sha256', key).update(value).digest();
  const key = hmac(hmac(hmac(hmac(`AWS4${KEYS.secretAccessKey}`, date), region), serviceName), end);
  return hmac(key, text).toString('hex') === signature;
}
