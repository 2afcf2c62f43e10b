/** What hostile callers send for the look of tenants' pages. */
import { Buffer } from 'node:buffer';
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';
import t from 'tap';
import { openIdentity } from './test-support/identity-bed.ts';
import { sendLogo } from './test-support/send-logo.ts';

t.setTimeout(120_000);
const THEME = '/api/v1/tenants/default/theme';

t.test('colours in which text could not be read, and texts that are none, are refused', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const put = async (body: object) => bed.ask('PUT', THEME, { as: root, body });
  for (const [body, advice] of [
    [{ accent: '#ffe14d' }, /darker/],
    [{ accent: '#2a8fbd' }, /darker/],
    [{ accent_dark: '#223344' }, /lighter/],
  ] as const)
    t.match(await put(body), { status: 400, body: { error: 'accent_unreadable', detail: advice } }, JSON.stringify(body));
  for (const body of [
    { accent: 'red' },
    { accent: '#fff' },
    { accent: '#123456;background:url(//evil.example)' },
    { name: '' },
    { name: 'x'.repeat(61) },
    { name: 'line\nbreak' },
    { name: '\u202Egnp.exe' },
    { welcome: 'x'.repeat(301) },
    { welcome: 7 },
  ])
    t.equal((await put(body)).status, 400, JSON.stringify(body));
  t.equal((await bed.ask('GET', '/api/v1/tenants/..%2f..%2fetc/theme')).status, 400);
});

t.test('what is no picture is refused, and stays out', async (t) => {
  const bed = await openIdentity(t);
  const root = await bed.makeRoot();
  const send = async (file: Uint8Array | string) => sendLogo(bed, root, 'default', Buffer.from(file));
  const png = await sharp({ create: { width: 9, height: 9, channels: 4, background: '#fff' } })
    .png()
    .toBuffer();
  t.match(await send('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), {
    status: 400,
    body: { detail: /SVG is not taken/ },
  });
  t.match(await send('<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>'), {
    status: 400,
  });
  for (const [name, file] of [
    ['nothing', ''],
    ['text', 'hello'],
    ['a page', '<!doctype html><script>alert(1)</script>'],
    ['a picture that is cut off', png.subarray(0, 40)],
    [
      'a script behind a picture\u2019s first bytes',
      Buffer.concat([png.subarray(0, 8), Buffer.from('<script>alert(1)</script>')]),
    ],
    ['a picture of 60,000 by 60,000', bomb(60_000)],
  ] as const)
    t.match(await send(file), { status: 400, body: { error: 'invalid_logo' } }, name);
  t.match(await send(new Uint8Array(1024 * 1024 + 1)), { status: 413 });
  t.match(await bed.ask('GET', THEME), { body: { logo: null } });
  t.equal((await send(png)).status, 200);
});

/** A valid PNG of one colour whose pixels would take gigabytes. */
function bomb(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const line = Buffer.alloc(1 + side / 8);
  const rows = deflateSync(Buffer.concat(Array.from({ length: 2_000 }, () => line)));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, tail]);
}
