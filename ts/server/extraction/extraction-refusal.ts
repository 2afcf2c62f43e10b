/** Thrown by the readers for a file that is not taken; extract() turns it into a result. */
import type { RefusalCode } from './extraction-result.ts';

const remedies: Readonly<Record<RefusalCode, string>> = {
  scanned_pdf: 'There is no OCR: run the scan through one first, and add the PDF that has a text layer.',
  encrypted_pdf: 'Save the PDF without a password and without restrictions, and add that.',
  encrypted_document: 'Save the document without a password or copy protection, and add that.',
  legacy_office_format: 'Save it in the newer format (.docx, .xlsx or .pptx), and add that.',
  text_too_short: 'Add a document of at least 20 characters.',
  unsupported_file_kind: 'Save it as text, HTML, PDF, .docx, .xlsx, .pptx, .odt, .ods, .odp or .epub.',
  damaged_file: 'Open it in the program that wrote it, save it anew, and add that.',
  file_too_large: 'Split the file into several.',
  too_many_pages: 'Split the document into several.',
  too_much_text: 'Split the document into several.',
  expands_too_much: 'Save it anew without large embedded objects, or split it.',
  too_deeply_nested: 'Save it in a simpler form, for example as plain text.',
  unsafe_xml: 'Save it anew with an ordinary office program; documents need no entities of their own.',
};

export class ExtractionRefusal extends Error {
  override readonly name = 'ExtractionRefusal';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, detail: string, options: ErrorOptions = {}) {
    super(detail, options);
    this.code = code;
  }

  get remedy(): string {
    return remedies[this.code];
  }
}

export function damaged(detail: string, cause?: unknown): ExtractionRefusal {
  return new ExtractionRefusal('damaged_file', detail, { cause });
}
