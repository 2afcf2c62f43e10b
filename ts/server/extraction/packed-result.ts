/**
 * A result on its way between threads. The blocks of a large document would hold up the thread that takes them all at once, so they cross as
 * bytes, and are read piece by piece.
 */
import type { Block } from './extracted-document.ts';
import type { ExtractionResult } from './extraction-result.ts';

/** Characters of JSON in a piece, more or less. */
const PIECE_LENGTH = 256 * 1024;

interface PackedResult {
  /** Without blocks. */
  result: ExtractionResult;
  /** Each a JSON array of blocks, as UTF-8. */
  pieces: Uint8Array<ArrayBuffer>[];
}

export function packResult(result: ExtractionResult): PackedResult {
  if (result.outcome !== 'extracted') return { result, pieces: [] };
  const { blocks, ...head } = result.document;
  return { result: { outcome: 'extracted', document: { ...head, blocks: [] } }, pieces: [...packBlocks(blocks)] };
}

function* packBlocks(blocks: readonly Block[]): Generator<Uint8Array<ArrayBuffer>> {
  let lines: string[] = [];
  let length = 0;
  for (const block of blocks) {
    const line = JSON.stringify(block);
    lines.push(line);
    length += line.length;
    if (length < PIECE_LENGTH) continue;
    yield pieceOf(lines);
    lines = [];
    length = 0;
  }
  if (lines.length > 0) yield pieceOf(lines);
}

function pieceOf(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`[${lines.join(',')}]`);
}

/** @param pause is awaited between two pieces. */
export async function unpackResult({ result, pieces }: PackedResult, pause: () => Promise<unknown>): Promise<ExtractionResult> {
  if (result.outcome !== 'extracted') return result;
  const { blocks } = result.document;
  for (const piece of pieces) {
    for (const block of JSON.parse(new TextDecoder().decode(piece)) as Block[]) blocks.push(block);
    await pause();
  }
  return result;
}
