/** How a quotation is put behind an answer: said plainly as one, in the language of the question. */
import type { Language } from '../question-language.ts';
import type { NearestSentence } from './nearest-sentence.ts';

/** What stands before and behind the quoted words. */
const FRAMES: Readonly<Record<Language, readonly [before: string, behind: string]>> = {
  en: ['From the documents: “', '”'],
  de: ['Aus den Dokumenten: „', '“'],
  fr: ['Extrait des documents : « ', ' »'],
  es: ['De los documentos: «', '»'],
  it: ['Dai documenti: «', '»'],
  pt: ['Dos documentos: “', '”'],
  nl: ['Uit de documenten: “', '”'],
  pl: ['Z dokumentów: „', '”'],
  ro: ['Din documente: „', '”'],
  tr: ['Belgelerden: “', '”'],
  vi: ['Trích từ tài liệu: “', '”'],
  ru: ['Из документов: «', '»'],
  uk: ['З документів: «', '»'],
  el: ['Από τα έγγραφα: «', '»'],
  he: ['מתוך המסמכים: ”', '“'],
  ar: ['من المستندات: «', '»'],
  hi: ['दस्तावेज़ों से: “', '”'],
  th: ['จากเอกสาร: “', '”'],
  ko: ['문서에서: “', '”'],
  ja: ['文書より：「', '」'],
  zh: ['摘自文档：“', '”'],
};

export interface Quotation {
  /** Of the passage, from 1. */
  readonly n: number;
  /** Without the mark. */
  readonly text: string;
}

export function quotationIn(language: Language, { n, text }: NearestSentence): Quotation {
  const [before, behind] = FRAMES[language];
  return { n, text: `${before}${text}${behind}` };
}

/** A mark at the end of an answer. */
const MARK_AT_END = / \[\d{1,3}\]$/;

/** An answer without the quotation that it ends with, which stands in a line of its own. */
export function withoutQuotation(answer: string): string {
  const lineStart = answer.lastIndexOf('\n') + 1;
  const line = answer.slice(lineStart).replace(MARK_AT_END, '');
  const isQuotation = Object.values(FRAMES).some(([before, behind]) => line.startsWith(before) && line.endsWith(behind));
  return isQuotation ? answer.slice(0, lineStart) : answer;
}
