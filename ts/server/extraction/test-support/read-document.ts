/** Files read as the extractor reads them, and blocks to compare them with. */
import type { Test } from 'tap';
import { extract } from '../extract.ts';
import type { Block, ExtractedDocument } from '../extracted-document.ts';
import { bytesAccess } from '../random-access.ts';
import type { WrittenDocument } from './written-document.ts';

export async function documentOf(t: Test, bytes: Uint8Array | string, fileName?: string): Promise<ExtractedDocument> {
  const result = await extract(bytesAccess(Buffer.from(bytes)), { fileName });
  if (result.outcome === 'extracted') return result.document;
  t.fail(JSON.stringify(result));
  throw new Error('no document');
}

export async function refusalOf(bytes: Uint8Array | string, fileName?: string): Promise<unknown> {
  const result = await extract(bytesAccess(Buffer.from(bytes)), { fileName });
  return result.outcome === 'refused' ? result.code : result;
}

export const heading = (text: string, level: number, more: Partial<Block> = {}): Block => ({
  type: 'heading',
  text,
  level,
  ...more,
});
export const paragraph = (text: string, more: Partial<Block> = {}): Block => ({ type: 'paragraph', text, ...more });
export const row = (text: string, more: Partial<Block> = {}): Block => ({ type: 'table-row', text, ...more });
export const note = (text: string, more: Partial<Block> = {}): Block => ({ type: 'note', text, ...more });

export const report: WrittenDocument = {
  title: 'Harbour report',
  language: 'en-GB',
  blocks: [
    { type: 'heading', text: 'The harbour & its <walls>', level: 1 },
    { type: 'paragraph', text: 'It was built in 1911 by forty masons.' },
    { type: 'page-break' },
    { type: 'heading', text: 'Fees', level: 2 },
    {
      type: 'table',
      rows: [
        ['Boat', 'Fee'],
        ['Dinghy', '12 €'],
        ['Trawler', '80 €'],
      ],
    },
    { type: 'note', text: 'Fees of 2026.' },
  ],
};

export const reportBlocks = [
  heading('The harbour & its <walls>', 1, { page: 1 }),
  paragraph('It was built in 1911 by forty masons.', { page: 1 }),
  heading('Fees', 2, { page: 2 }),
  row('Boat | Fee', { page: 2 }),
  row('Boat: Dinghy; Fee: 12 €', { page: 2 }),
  row('Boat: Trawler; Fee: 80 €', { page: 2 }),
];
