/** Checks the claims of a whole answer: what of a sentence neither the passages that it cites nor the question say. */

import type { Language } from '../evidence/question-language.ts';
import { sentencesOf } from '../evidence/quotable-sentences.ts';
import type { CitationMark, UnsupportedClaim } from '../knowledge-context.ts';
import { type ClaimSupport, surelyLanguageOf, unsupportedIn } from './claims.ts';

/** Of a longer answer, the beginning is checked. UTF-16 code units. */
const MAX_ANSWER = 16_000;
/** Code and addresses claim nothing. */
const UNCHECKED = /```[\s\S]*?(?:```|$)|`[^`\n]*`|https?:\/\/\S+|^\s{0,3}#{1,6} .*$/gm;

interface CitingSentence {
  readonly start: number;
  readonly text: string;
  readonly line: number;
  readonly cites: Set<number>;
}

/**
 * A sentence without a citation of its own is checked by all passages, and what they do not say is named by the citation that follows it.
 *
 * @param supportOf what a passage says, by its number. @param others of the question. @param asked its language, which an answer that tells none is in.
 */
export function unsupportedClaims(
  answer: string,
  marks: readonly CitationMark[],
  supportOf: (n: number) => ClaimSupport | undefined,
  all: () => readonly ClaimSupport[],
  others: readonly ClaimSupport[],
  asked: Language,
): UnsupportedClaim[] {
  if (marks.length === 0) return [];
  const plain = blanked(answer.slice(0, MAX_ANSWER), marks);
  const sentences = sentencesIn(plain);
  let [line, at] = [0, 0];
  for (const { n, start } of marks) {
    for (; at < start; at++) if (plain[at] === '\n') line += 1;
    sentenceOf(sentences, line, start)?.cites.add(n);
  }
  const language = surelyLanguageOf(plain) ?? asked;
  return sentences.flatMap((sentence, i) => {
    const named = sentence.cites.size > 0 ? sentence.cites : nearestCites(sentences, i);
    const own = [...sentence.cites].flatMap((n) => supportOf(n) ?? []);
    const supports = [...(sentence.cites.size > 0 ? own : all()), ...others];
    return unsupportedIn(sentence.text, language, supports).flatMap(({ start, end }) =>
      [...named].map((n) => {
        return { n, text: sentence.text.slice(start, end), start: sentence.start + start, end: sentence.start + end };
      }),
    );
  });
}

function blanked(answer: string, marks: readonly CitationMark[]): string {
  let text = answer.replace(UNCHECKED, (code) => code.replace(/[^\n]/g, ' '));
  for (const { start, end } of marks)
    if (end <= text.length) text = text.slice(0, start) + ' '.repeat(end - start) + text.slice(end);
  return text;
}

function sentencesIn(text: string): CitingSentence[] {
  const sentences: CitingSentence[] = [];
  let lineStart = 0;
  for (const [line, content] of text.split('\n').entries()) {
    let at = 0;
    for (const sentence of sentencesOf(content)) {
      at = content.indexOf(sentence, at);
      sentences.push({ start: lineStart + at, text: sentence, line, cites: new Set() });
      at += sentence.length;
    }
    lineStart += content.length + 1;
  }
  return sentences;
}

/** A mark stands in its sentence or behind it; the first of a line stands before it. */
function sentenceOf(sentences: readonly CitingSentence[], line: number, place: number): CitingSentence | undefined {
  const ofLine = sentences.filter((sentence) => sentence.line === line);
  return (
    ofLine.findLast(({ start }) => start <= place) ??
    ofLine[0] ??
    sentences.findLast(({ start }) => start <= place) ??
    sentences[0]
  );
}

function nearestCites(sentences: readonly CitingSentence[], at: number): ReadonlySet<number> {
  const own = sentences[at];
  const cited = sentences.map((sentence, i) => ({ sentence, i })).filter(({ sentence }) => sentence.cites.size > 0);
  const ofLine = cited.filter(({ sentence }) => sentence.line === own?.line);
  const near = ofLine.length > 0 ? ofLine : cited;
  return (near.find(({ i }) => i > at) ?? near.at(-1))?.sentence.cites ?? new Set();
}
