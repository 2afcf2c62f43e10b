/** How an extraction ends. All three are plain data, since they cross from a thread. */
import type { ExtractedDocument } from './extracted-document.ts';

const REFUSAL_CODES = [
  'scanned_pdf',
  'encrypted_pdf',
  'encrypted_document',
  'legacy_office_format',
  'text_too_short',
  'unsupported_file_kind',
  'damaged_file',
  'file_too_large',
  'too_many_pages',
  'too_much_text',
  'expands_too_much',
  'too_deeply_nested',
  'unsafe_xml',
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** `stored`: the file is kept and never found by a search. `media`: sound that has to be transcribed first. */
export type ExtractionResult =
  | { outcome: 'extracted'; document: ExtractedDocument }
  | { outcome: 'stored'; reason: StoredReason; detail: string }
  | { outcome: 'media'; media: 'audio' | 'video'; mediaType: string }
  | { outcome: 'refused'; code: RefusalCode; detail: string; remedy: string };

export type StoredReason = 'rtf' | 'image_without_text';

export const STORED_DETAILS: Readonly<Record<StoredReason, string>> = {
  rtf: 'RTF files are stored and not indexed. Save it as .docx or .txt to have it indexed.',
  image_without_text:
    'Images and scans have no text layer, so they are stored and not indexed. Add the text as a document of its own.',
};
