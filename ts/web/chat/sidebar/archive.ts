/** Files out of a ZIP archive, read where the browser has it (APPNOTE.TXT, sections 4.3 and 4.4). */

const END_RECORD = 0x06054b50;
const CENTRAL_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const END_RECORD_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const LOCAL_ENTRY_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;
/** What an entry may grow to. */
const MAX_ENTRY_BYTES = 512 * 1024 * 1024;

interface Entry {
  name: string;
  method: number;
  packedBytes: number;
  bytes: number;
  offset: number;
}

/** Whatever it is called, a ZIP archive begins so. */
export async function isArchive(file: Blob): Promise<boolean> {
  return file.size >= 4 && (await view(file, 0, 4)).getUint32(0, true) === LOCAL_ENTRY;
}

/** The files whose paths match, in their order. Throws for an archive that is damaged, encrypted, or larger than 4 GiB. */
export async function filesOfArchive(file: Blob, path: RegExp): Promise<Blob[]> {
  const wanted = (await entriesOf(file)).filter(({ name }) => path.test(name));
  return await Promise.all(wanted.map((entry) => unpack(file, entry)));
}

async function entriesOf(file: Blob): Promise<Entry[]> {
  const tailAt = Math.max(0, file.size - END_RECORD_BYTES - MAX_COMMENT_BYTES);
  const tail = await view(file, tailAt, file.size);
  let at = tail.byteLength - END_RECORD_BYTES;
  while (at >= 0 && tail.getUint32(at, true) !== END_RECORD) at--;
  if (at < 0) throw new Error('the archive has no end');
  const count = tail.getUint16(at + 10, true);
  const bytes = tail.getUint32(at + 12, true);
  const start = tail.getUint32(at + 16, true);
  if (start + bytes > file.size) throw new Error('the list of the archive lies outside of it');
  const list = await view(file, start, start + bytes);
  const entries: Entry[] = [];
  for (let next = 0; entries.length < count; ) {
    if (next + 46 > list.byteLength || list.getUint32(next, true) !== CENTRAL_ENTRY) throw new Error('the list is damaged');
    const nameBytes = list.getUint16(next + 28, true);
    const isEncrypted = (list.getUint16(next + 8, true) & 1) === 1;
    const name = text(list, next + 46, nameBytes);
    entries.push({
      name,
      method: isEncrypted ? -1 : list.getUint16(next + 10, true),
      packedBytes: list.getUint32(next + 20, true),
      bytes: list.getUint32(next + 24, true),
      offset: list.getUint32(next + 42, true),
    });
    next += 46 + nameBytes + list.getUint16(next + 30, true) + list.getUint16(next + 32, true);
  }
  return entries;
}

async function unpack(file: Blob, { name, method, packedBytes, bytes, offset }: Entry): Promise<Blob> {
  if (method !== STORED && method !== DEFLATED) throw new Error(`${name} is packed in a way that cannot be read`);
  if (bytes > MAX_ENTRY_BYTES) throw new Error(`${name} is too large`);
  const local = await view(file, offset, offset + LOCAL_ENTRY_BYTES);
  if (local.byteLength < LOCAL_ENTRY_BYTES || local.getUint32(0, true) !== LOCAL_ENTRY) throw new Error(`${name} is missing`);
  const start = offset + LOCAL_ENTRY_BYTES + local.getUint16(26, true) + local.getUint16(28, true);
  const packed = file.slice(start, start + packedBytes);
  if (method === STORED) return packed;
  const unpacked = packed.stream().pipeThrough(new DecompressionStream('deflate-raw')).pipeThrough(atMost(bytes, name));
  return await new Response(unpacked).blob();
}

/** What is announced is a promise of the archive, which may lie. */
function atMost(bytes: number, name: string): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > bytes) throw new Error(`${name} is larger than the archive says`);
      controller.enqueue(chunk);
    },
  });
}

async function view(file: Blob, start: number, end: number): Promise<DataView> {
  return new DataView(await file.slice(start, end).arrayBuffer());
}

function text(list: DataView, at: number, bytes: number): string {
  if (at + bytes > list.byteLength) throw new Error('the list is damaged');
  return new TextDecoder().decode(new Uint8Array(list.buffer, list.byteOffset + at, bytes));
}
