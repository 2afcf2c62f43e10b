/** A passage as a search finds it. */
import type { PassageResult } from '../../knowledge-base.ts';

export function passageResult(text: string, more: Partial<PassageResult> = {}): PassageResult {
  return {
    documentNo: 1,
    documentId: 'd1',
    source: 'guide.pdf',
    title: undefined,
    seq: 0,
    start: 0,
    end: text.length,
    text,
    fileId: 'file-1',
    attributes: {},
    namespace: 'kb',
    score: 1,
    lexicalScore: 2,
    denseScore: undefined,
    relevance: 0.9,
    ...more,
  };
}
