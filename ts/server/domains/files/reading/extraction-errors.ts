/** The refusals of extraction as a route declares them. They are about the file, so they are 422; too short a text is 400, as it is when text is added. */
import type { ErrorSpec } from '../../../platform/http/errors.ts';
import type { ExtractionOutcome } from './extractor.ts';

export type ExtractionErrorCode = Extract<ExtractionOutcome, { outcome: 'refused' }>['code'];

const meanings: Readonly<Record<ExtractionErrorCode, string>> = {
  scanned_pdf: 'The PDF has no text layer, and there is no OCR; add one that has.',
  encrypted_pdf: 'The PDF is encrypted; save it without a password.',
  encrypted_document: 'The document is protected by a password or against copying.',
  legacy_office_format: 'The file is a .doc, .xls or .ppt; save it in the newer format.',
  text_too_short: 'The text has fewer than 20 characters.',
  unsupported_file_kind: 'The file is of no kind that can be read.',
  damaged_file: 'The file is cut off or damaged.',
  file_too_large: 'The file is larger than files of its kind may be; split it.',
  too_many_pages: 'The document has more pages, sheets, slides or chapters than are read; split it.',
  too_much_text: 'The document has more text, or more table rows, than is read; split it.',
  expands_too_much: 'The file unpacks to far more than it should.',
  too_deeply_nested: 'The document has more levels inside each other than are read.',
  unsafe_xml: 'The document declares entities of its own.',
  extraction_timeout: 'Reading the file takes too long; split it.',
  extraction_out_of_memory: 'Reading the file takes too much memory; split it.',
  extraction_failed: 'The file cannot be read because of a defect of the server.',
};

export const EXTRACTION_ERRORS: readonly ErrorSpec[] = Object.entries(meanings).map(([code, meaning]) => ({
  status: code === 'text_too_short' ? 400 : 422,
  code,
  meaning,
}));
