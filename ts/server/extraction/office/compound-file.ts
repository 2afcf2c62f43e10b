/** Which program wrote a compound file (MS-CFB): only the names in its directory are looked at. */
import { ExtractionRefusal } from '../extraction-refusal.ts';
import type { RandomAccess } from '../random-access.ts';

const MAX_SEARCHED_BYTES = 4 * 1024 * 1024;

const streams: readonly (readonly [string, string, string])[] = [
  ['WordDocument', '.doc', '.docx'],
  ['Workbook', '.xls', '.xlsx'],
  ['Book', '.xls', '.xlsx'],
  ['PowerPoint Document', '.ppt', '.pptx'],
];

/** Always a refusal: of an old format, or of a newer one with a password, which is kept in such a file. */
export function compoundFileRefusal(source: RandomAccess): ExtractionRefusal {
  const head = source.read(0, MAX_SEARCHED_BYTES);
  const tail = source.read(Math.max(head.length, source.sizeBytes - MAX_SEARCHED_BYTES), MAX_SEARCHED_BYTES);
  const bytes = Buffer.concat([head, tail]);
  const has = (name: string) => bytes.includes(Buffer.from(`${name}\0`, 'utf16le'));
  if (has('EncryptedPackage')) return new ExtractionRefusal('encrypted_document', 'The document is protected by a password.');
  const known = streams.find(([name]) => has(name));
  if (known === undefined)
    return new ExtractionRefusal(
      'unsupported_file_kind',
      'The file is of an old Windows program and of no kind that can be read.',
    );
  return new ExtractionRefusal(
    'legacy_office_format',
    `The file is in the old format ${known[1]}, which is not read; the newer one is ${known[2]}.`,
  );
}
