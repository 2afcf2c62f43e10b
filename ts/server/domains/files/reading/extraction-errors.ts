/** The refusals of extraction. They are about the file, so they are 422; too short a text is 400, as it is when text is added. */
import { defineErrors, type ErrorRow } from '../../../platform/errors/define-errors.ts';
import type { ExtractionOutcome } from './extractor.ts';

type ExtractionErrorCode = Extract<ExtractionOutcome, { outcome: 'refused' }>['code'];

export const extractionErrors = defineErrors('files', {
  scanned_pdf: [422, 'The PDF has no text layer, and there is no OCR.', 'Add one that has a text layer.'],
  encrypted_pdf: [422, 'The PDF is encrypted.', 'Save it without a password.'],
  encrypted_document: [422, 'The document is protected by a password or against copying.', 'Save it without protection.'],
  legacy_office_format: [422, 'The file is a .doc, .xls or .ppt.', 'Save it in the newer format.'],
  text_too_short: [400, 'The text has fewer than 20 characters.', 'Send more.'],
  unsupported_file_kind: [422, 'The file is of no kind that can be read.', 'Send text, HTML, a PDF or an office document.'],
  damaged_file: [422, 'The file is cut off or damaged.', 'Send it again from a sound copy.'],
  file_too_large: [422, 'The file is larger than files of its kind may be.', 'Split it.'],
  too_many_pages: [422, 'The document has more pages, sheets, slides or chapters than are read.', 'Split it.'],
  too_much_text: [422, 'The document has more text, or more table rows, than is read.', 'Split it.'],
  expands_too_much: [422, 'The file unpacks to far more than it should.', 'Save it again with the program that made it.'],
  too_deeply_nested: [422, 'The document has more levels inside each other than are read.', 'Send its text alone.'],
  unsafe_xml: [422, 'The document declares entities of its own.', 'Save it again without them.'],
  extraction_timeout: [422, 'Reading the file takes too long.', 'Split it.'],
  extraction_out_of_memory: [422, 'Reading the file takes too much memory.', 'Split it.'],
  extraction_failed: [422, 'The file cannot be read because of a defect of the server.', 'Report it with the request id.'],
} satisfies Record<ExtractionErrorCode, ErrorRow>);
