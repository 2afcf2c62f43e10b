import fc from 'fast-check';
import t from 'tap';
import Type from 'typebox';
import { json } from '../route.ts';
import { eventually, openTestBed, plainRoute, RawClient } from '../test-support/test-bed.ts';
import { FormFile, formBody } from './body-schema.ts';
import { BodyStream } from './body-stream.ts';
import { cleanFileName } from './file-name.ts';
import { MultipartBody, type Part, type PartLimits } from './multipart.ts';

const TYPE = 'multipart/form-data; boundary=limit';

interface Seen {
  name: string;
  value: string;
  fileName?: string | undefined;
  contentType?: string;
}

async function readPart(part: Part): Promise<Seen> {
  if (part.kind === 'field') return { name: part.name, value: part.value };
  const chunks: Uint8Array[] = [];
  for await (const chunk of part.content) chunks.push(chunk);
  const { name, fileName, contentType } = part;
  return { name, value: Buffer.concat(chunks).toString('latin1'), fileName, contentType };
}

async function readAll(form: AsyncIterable<Part>): Promise<Seen[]> {
  const seen: Seen[] = [];
  for await (const part of form) seen.push(await readPart(part));
  return seen;
}

/** A form whose bytes arrive in the given pieces. */
function arrive(pieces: readonly Uint8Array[], limits: Partial<PartLimits> = {}): MultipartBody {
  const body = new BodyStream(1e9, { pause: () => undefined, resume: () => undefined });
  const form = new MultipartBody(body, TYPE, limits);
  for (const [i, piece] of pieces.entries()) body.add(new Uint8Array(piece).buffer, i === pieces.length - 1);
  return form;
}

function field(name: string, value: string | Buffer, more = ''): Buffer {
  const head = `--limit\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]);
}

const END = Buffer.from('--limit--\r\n');
const formOf = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, END]);

t.test('fields and files come in order', async (t) => {
  const file = field('f', 'héllo', '; filename="C:\\\\dir\\\\a.txt"\r\nContent-Type: TEXT/plain');
  t.strictSame(await readAll(arrive([formOf(field('a', '1'), file, field('b', '2'))])), [
    { name: 'a', value: '1' },
    { name: 'f', value: Buffer.from('héllo').toString('latin1'), fileName: 'a.txt', contentType: 'text/plain' },
    { name: 'b', value: '2' },
  ]);
});

t.test('wherever the bytes are cut, the same parts come out', async () => {
  const value = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom('\r\n', '\r\n--limit', '--limit\r\n', '\r\n--limi', '\r', '\r\n--', '-'),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  );
  // A field with a NUL is refused.
  const storable = value.map((text) => text.replaceAll('\0', ' '));
  const part = fc.record({ name: fc.stringMatching(/^[a-z]{1,8}$/), value: storable, isFile: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 5 }), fc.array(fc.nat(2000), { maxLength: 12 }), async (parts, cuts) => {
      // A value with the delimiter in it would be another form.
      const wanted = parts.filter((one) => !`\r\n${one.value}\r\n`.includes('\r\n--limit'));
      const sent = formOf(
        ...wanted.map((one) =>
          field(
            one.name,
            Buffer.from(one.value, 'latin1'),
            one.isFile ? '; filename="x"' : '\r\nContent-Type: text/plain; charset=latin1',
          ),
        ),
      );
      const borders = [0, ...cuts.map((cut) => cut % (sent.length + 1)).sort((a, b) => a - b), sent.length];
      const pieces = borders.slice(1).map((end, i) => sent.subarray(borders[i] ?? 0, end));
      const seen = await readAll(arrive(pieces));
      const pairs = (all: { name: string; value: string }[]) => JSON.stringify(all.map((one) => [one.name, one.value]));
      return pairs(seen) === pairs(wanted);
    }),
    { numRuns: 300 },
  );
});

t.test('a cut form, or random bytes, fail with a documented error and never hang', async () => {
  const whole = formOf(field('a', '1'), field('f', 'x'.repeat(500), '; filename="x"'));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat(whole.length - 1).map((end) => whole.subarray(0, end)),
    fc.nat(whole.length).map((at) => Buffer.concat([whole.subarray(0, at), Buffer.from([0, 255, 13, 10]), whole.subarray(at)])),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      const outcome = await readAll(arrive([sent])).catch((error: unknown) => error);
      return Array.isArray(outcome) || (outcome as { code?: string }).code === 'invalid_multipart';
    }),
    { numRuns: 300 },
  );
});

t.test('limits', async (t) => {
  const cases: [what: string, limits: Partial<PartLimits>, form: Buffer, code: string | undefined][] = [
    ['a file of the limit', { maxFileBytes: 4 }, formOf(field('f', 'xxxx', '; filename="x"')), undefined],
    ['a file over it', { maxFileBytes: 3 }, formOf(field('f', 'xxxx', '; filename="x"')), 'part_too_large'],
    ['a field of the limit', { maxFieldBytes: 4 }, formOf(field('a', 'xxxx')), undefined],
    ['a field over it', { maxFieldBytes: 3 }, formOf(field('a', 'xxxx')), 'part_too_large'],
    ['two files', { maxFiles: 1 }, formOf(field('f', '', '; filename="x"'), field('g', '', '; filename="x"')), 'too_many_parts'],
    ['three fields', { maxFields: 2 }, formOf(field('a', ''), field('b', ''), field('c', '')), 'too_many_parts'],
    ['a long name', {}, formOf(field('n'.repeat(300), '')), 'invalid_multipart'],
    ['a file with a long name', {}, formOf(field('n'.repeat(300), '', '; filename="x"')), 'invalid_multipart'],
    ['no name', {}, formOf(Buffer.from('--limit\r\nContent-Disposition: form-data\r\n\r\nx\r\n')), 'invalid_multipart'],
  ];
  for (const [what, limits, form, code] of cases) {
    const outcome = await readAll(arrive([form], limits)).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );
    t.equal(outcome, code, what);
  }
});

t.test('names of files are one harmless name', (t) => {
  const cases: [given: string | undefined, clean: string | undefined][] = [
    ['a.txt', 'a.txt'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['/abs/x', 'x'],
    ['..', undefined],
    ['.', undefined],
    ['', undefined],
    ['dir/', undefined],
    [undefined, undefined],
    ['a\0.txt', 'a.txt'],
    ['a\r\nSet-Cookie: x', 'aSet-Cookie_ x'],
    ['exe\u202etxt.cod', 'exetxt.cod'],
    [' name. . ', 'name'],
    ['a<b>"c|d?.txt', 'a_b__c_d_.txt'],
    ['u\u0308ber.pdf', 'über.pdf'],
    ['.hidden', '.hidden'],
  ];
  for (const [given, clean] of cases) t.equal(cleanFileName(given), clean, JSON.stringify(given));
  const long = cleanFileName(`${'ü'.repeat(300)}.pdf`) ?? '';
  t.ok(Buffer.byteLength(long) <= 255 && long.endsWith('ü.pdf'));
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
      const name = cleanFileName(given);
      if (name === undefined) return true;
      return (
        !/[/\\\p{Cc}]/u.test(name) &&
        name !== '.' &&
        name !== '..' &&
        Buffer.byteLength(name) <= 255 &&
        cleanFileName(name) === name
      );
    }),
  );
  t.end();
});

t.test('over a socket', async (t) => {
  let failure: unknown;
  const form = {
    body: formBody({ file: FormFile, purpose: Type.String() }),
    bodyKind: 'multipart',
    maxBody: 50_000_000,
  } as const;
  const bed = await openTestBed(t, [
    plainRoute('POST', '/upload', async ({ body }) => json(200, await readAll(body as MultipartBody)), form),
    plainRoute(
      'POST',
      '/first',
      async ({ body }) => {
        for await (const part of body as MultipartBody) return json(200, { first: part.name });
        return json(200, {});
      },
      form,
    ),
    plainRoute(
      'POST',
      '/skip',
      async ({ body }) => {
        const names: string[] = [];
        try {
          for await (const part of body as MultipartBody) names.push(part.name);
        } catch (error) {
          failure = error;
          throw error;
        }
        return json(200, names);
      },
      form,
    ),
  ]);
  const send = async (path: string, body: FormData | string, headers = {}) => {
    const response = await fetch(bed.url + path, { method: 'POST', body, headers });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const large = new Blob([Buffer.alloc(5_000_000, 'q')]);
  const upload = new FormData();
  upload.append('purpose', 'test ✓');
  upload.append('file', new Blob(['content'], { type: 'text/plain' }), 'ünï.txt');
  t.match(await send('/upload', upload), {
    status: 200,
    body: [
      { name: 'purpose', value: 'test ✓' },
      { name: 'file', value: 'content', fileName: 'ünï.txt', contentType: 'text/plain' },
    ],
  });
  upload.append('more', large, 'large.bin');
  upload.append('last', 'x');
  t.strictSame(
    (await send('/skip', upload)).body,
    ['purpose', 'file', 'more', 'last'],
    'files that are not read are passed over',
  );
  t.match(await send('/first', upload), { status: 200, body: { first: 'purpose' } }, 'an answer may come before the end');
  t.match(await send('/upload', '{}', { 'content-type': 'application/json' }), {
    status: 415,
    body: { error: 'unsupported_media_type' },
  });
  t.match(await send('/upload', 'x', { 'content-type': 'multipart/form-data' }), { status: 415 });
  t.match(await send('/upload', 'x', { 'content-type': TYPE }), { status: 400, body: { error: 'invalid_multipart' } });

  const client = await RawClient.open(t, bed.port);
  client.send(`POST /skip HTTP/1.1\r\nHost: a\r\nContent-Type: ${TYPE}\r\nContent-Length: 1000\r\n\r\n`);
  client.send(field('f', 'x', '; filename="x"'));
  await eventually(() => bed.metrics.expose().includes('svc_http_requests_in_flight 1'));
  client.socket.destroy();
  await eventually(() => failure !== undefined);
  t.match(failure, { name: 'BodyAborted' }, 'a client that leaves is told to the reader');
});

t.test('a field or a name that is no text is refused', async (t) => {
  for (const [name, value] of [
    ['a', 'b\0c'],
    ['a', Buffer.from([0x62, 0xff])],
    ['a', Buffer.from([0xc0, 0x80])],
    ['a', Buffer.from([0xed, 0xa0, 0x80])],
    ['a\0', 'b'],
  ] as const)
    await t.rejects(readAll(arrive([formOf(field(name, value))])), { status: 400, code: 'invalid_multipart' }, String(value));
  t.match(await readAll(arrive([formOf(field('a', 'ü 漢字 🦙'))])), [{ value: 'ü 漢字 🦙' }]);
});
