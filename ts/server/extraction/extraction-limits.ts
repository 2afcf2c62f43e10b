/** How much of a file extraction takes before it refuses. Time and memory are limited by the pool that runs it. */
export interface ExtractionLimits {
  /** Of files that have to be in memory as a whole: text, HTML, e-mail, PDF. */
  maxBytes: number;
  /** All parts of an archive together, unpacked. */
  maxExpandedBytes: number;
  maxArchiveEntries: number;
  /** Pages, sheets, slides, chapters. */
  maxPages: number;
  maxBlocks: number;
  /** UTF-16 units of all blocks together. */
  maxTextLength: number;
  /** Elements of an XML part inside each other. */
  maxXmlDepth: number;
  maxHtmlDepth: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: ExtractionLimits = {
  maxBytes: 128 * MIB,
  maxExpandedBytes: 512 * MIB,
  maxArchiveEntries: 20_000,
  maxPages: 5_000,
  maxBlocks: 250_000,
  maxTextLength: 24 * MIB,
  maxXmlDepth: 512,
  maxHtmlDepth: 20_000,
};

/** Fewer characters than these are no document. */
export const MIN_TEXT_LENGTH = 20;
