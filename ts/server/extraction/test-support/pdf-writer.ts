/** Writes PDF files for tests: text in Helvetica at given places, pictures, and broken structures. */
import { deflateSync } from 'node:zlib';

interface WrittenText {
  text: string;
  /** In points, from the upper left corner. */
  x: number;
  y: number;
  size?: number;
  /** Which way its line runs from there (default: to the right). */
  runs?: 'upwards' | 'downwards';
}

interface PdfOptions {
  title?: string;
  /** Pages have a picture behind their text. */
  hasPicture?: boolean;
  /** Claims to be encrypted with a password. */
  isEncrypted?: boolean;
  /** Objects in place of those that are written, by number: 1 is the catalogue, 2 the page tree. */
  replaced?: Readonly<Record<number, string>>;
}

const PAGE_WIDTH = 595;
const PAGE_HEIGHT = 842;
/** Of Helvetica, in font sizes; near enough to lay out columns. */
const MEAN_WIDTH = 0.5;

export function writePdf(pages: readonly WrittenText[][], options: PdfOptions = {}): Buffer {
  const { title, hasPicture = false, isEncrypted = false, replaced = {} } = options;
  const objects = new Map<number, Buffer>();
  const pageNumber = (i: number) => 6 + i * 2;
  const kids = pages.map((_, i) => `${pageNumber(i)} 0 R`).join(' ');
  objects.set(1, Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'));
  objects.set(2, Buffer.from(`<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`));
  objects.set(3, Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'));
  objects.set(4, Buffer.from(`<< /Title (${escapeText(title ?? '')}) >>`));
  if (hasPicture) objects.set(5, pictureObject());
  for (const [i, texts] of pages.entries()) {
    const resources = `<< /Font << /F1 3 0 R >> /XObject << /I1 5 0 R >> >>`;
    const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE_WIDTH} ${PAGE_HEIGHT}] /Resources ${resources} /Contents ${pageNumber(i) + 1} 0 R >>`;
    objects.set(pageNumber(i), Buffer.from(page));
    objects.set(pageNumber(i) + 1, streamObject(Buffer.from(content(texts, hasPicture), 'latin1')));
  }
  for (const [number, text] of Object.entries(replaced)) objects.set(Number(number), Buffer.from(text, 'latin1'));
  const key = '<'.concat('5a'.repeat(32), '>');
  const encrypt = isEncrypted
    ? ` /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O ${key} /U ${key} >> /ID [<00> <00>]`
    : '';
  return assemble(objects, encrypt, hasPicture || title !== undefined);
}

/** Text in lines of a given width, from a place downwards. Returns the place of the next line too. */
export function wrap(text: string, x: number, y: number, width: number, size = 10): { texts: WrittenText[]; y: number } {
  const nCharacters = Math.max(1, Math.floor(width / (size * MEAN_WIDTH)));
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= nCharacters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return { texts: lines.map((line, i) => ({ text: line, x, y: y + i * size * 1.2, size })), y: y + lines.length * size * 1.2 };
}

function content(texts: readonly WrittenText[], hasPicture: boolean): string {
  const lines = texts.map(
    ({ text, x, y, size = 10, runs }) => `/F1 ${size} Tf ${turnOf(runs)} ${x} ${PAGE_HEIGHT - y} Tm (${escapeText(text)}) Tj`,
  );
  return `${hasPicture ? 'q 500 0 0 700 50 50 cm /I1 Do Q\n' : ''}BT\n${lines.join('\n')}\nET`;
}

function turnOf(runs: WrittenText['runs']): string {
  if (runs === undefined) return '1 0 0 1';
  return runs === 'upwards' ? '0 1 -1 0' : '0 -1 1 0';
}

function pictureObject(): Buffer {
  const entries = '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceRGB /BitsPerComponent 8';
  return streamObject(Buffer.alloc(3), entries);
}

function streamObject(bytes: Buffer, entries = ''): Buffer {
  const packed = deflateSync(bytes);
  return Buffer.concat([
    Buffer.from(`<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`),
    packed,
    Buffer.from('\nendstream'),
  ]);
}

function assemble(objects: ReadonlyMap<number, Buffer>, encrypt: string, hasInfo: boolean): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n', 'latin1')];
  const offsets = new Map<number, number>();
  let at = parts[0]?.length ?? 0;
  for (const [number, body] of [...objects].sort(([p], [q]) => p - q)) {
    const object = Buffer.concat([Buffer.from(`${number} 0 obj\n`), body, Buffer.from('\nendobj\n')]);
    offsets.set(number, at);
    at += object.length;
    parts.push(object);
  }
  const size = Math.max(...objects.keys()) + 1;
  const lines = Array.from({ length: size }, (_, i) => {
    const offset = offsets.get(i);
    return offset === undefined ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`;
  });
  const info = hasInfo ? ' /Info 4 0 R' : '';
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R${info}${encrypt} >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(`xref\n0 ${size}\n${lines.join('')}${trailer}`)]);
}

function escapeText(text: string): string {
  return text.replace(/[\\()]/g, '\\$&');
}
