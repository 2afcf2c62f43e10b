/** A task of the worker pool: reads a document from its file, and hands its blocks over as JSON in pieces that are quick to read. */

import { type ExtractOptions, extract } from '../server/extraction/extract.ts';
import { packResult } from '../server/extraction/packed-result.ts';
import { bytesAccess, fileAccess } from '../server/extraction/random-access.ts';
import { Transferred } from '../server/platform/pool/transferred.ts';

export interface ExtractionTask extends ExtractOptions {
  /** A path of the server's own, or the bytes themselves. */
  source: string | Uint8Array;
}

// Of a damaged PDF, pdf.js leaves promises behind that nobody waits for. They are rejected when the thread reads another file already, and would end
// it. What this program's own code does is awaited, so that nothing else is missed.
process.on('unhandledRejection', () => {});

export async function run({ source, ...options }: ExtractionTask) {
  const access = typeof source === 'string' ? fileAccess(source) : bytesAccess(source);
  try {
    const packed = packResult(await extract(access, options));
    return new Transferred(
      packed,
      packed.pieces.map(({ buffer }) => buffer),
    );
  } finally {
    access.close();
  }
}
