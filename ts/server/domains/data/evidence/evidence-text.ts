/** How evidence is said: as quotations, each with its mark, below a lead in the language of the question. */
import type { CitationMark } from '../knowledge-context.ts';
import type { Language } from './question-language.ts';

interface Frame {
  readonly lead: string;
  /** In place of `lead` where nothing says that the documents answer the question. */
  readonly nearest: string;
  readonly open: string;
  readonly close: string;
}

const FRAMES: Readonly<Record<Language, Frame>> = {
  en: { lead: 'From the documents:', nearest: 'The documents may not say this. Nearest:', open: '“', close: '”' },
  de: {
    lead: 'Aus den Dokumenten:',
    nearest: 'Die Dokumente sagen das vielleicht nicht. Am nächsten kommt:',
    open: '„',
    close: '“',
  },
  fr: {
    lead: 'Extrait des documents :',
    nearest: 'Les documents ne le disent peut-être pas. Le plus proche :',
    open: '« ',
    close: ' »',
  },
  es: {
    lead: 'De los documentos:',
    nearest: 'Es posible que los documentos no lo digan. Lo más cercano:',
    open: '«',
    close: '»',
  },
  it: { lead: 'Dai documenti:', nearest: 'Forse i documenti non lo dicono. La cosa più vicina:', open: '«', close: '»' },
  pt: { lead: 'Dos documentos:', nearest: 'Os documentos talvez não digam isto. O mais próximo:', open: '“', close: '”' },
  nl: {
    lead: 'Uit de documenten:',
    nearest: 'De documenten zeggen dit misschien niet. Het dichtst in de buurt:',
    open: '“',
    close: '”',
  },
  pl: { lead: 'Z dokumentów:', nearest: 'Dokumenty mogą tego nie mówić. Najbliższe:', open: '„', close: '”' },
  ro: { lead: 'Din documente:', nearest: 'Documentele poate nu spun acest lucru. Cel mai apropiat:', open: '„', close: '”' },
  tr: { lead: 'Belgelerden:', nearest: 'Belgeler bunu söylemiyor olabilir. En yakını:', open: '“', close: '”' },
  vi: { lead: 'Trích từ tài liệu:', nearest: 'Tài liệu có thể không nói điều này. Gần nhất:', open: '“', close: '”' },
  ru: { lead: 'Из документов:', nearest: 'Возможно, в документах этого нет. Ближе всего:', open: '«', close: '»' },
  uk: { lead: 'З документів:', nearest: 'Можливо, у документах цього немає. Найближче:', open: '«', close: '»' },
  el: { lead: 'Από τα έγγραφα:', nearest: 'Τα έγγραφα ίσως δεν το λένε αυτό. Το πλησιέστερο:', open: '«', close: '»' },
  he: { lead: 'מתוך המסמכים:', nearest: 'ייתכן שהמסמכים אינם אומרים זאת. הקרוב ביותר:', open: '”', close: '“' },
  ar: { lead: 'من المستندات:', nearest: 'قد لا تذكر المستندات ذلك. الأقرب:', open: '«', close: '»' },
  hi: { lead: 'दस्तावेज़ों से:', nearest: 'हो सकता है दस्तावेज़ों में यह न हो। निकटतम:', open: '“', close: '”' },
  th: { lead: 'จากเอกสาร:', nearest: 'เอกสารอาจไม่ได้กล่าวถึงเรื่องนี้ ใกล้เคียงที่สุด:', open: '“', close: '”' },
  ko: { lead: '문서에서:', nearest: '문서에 이 내용이 없을 수도 있습니다. 가장 가까운 내용:', open: '“', close: '”' },
  ja: { lead: '文書より：', nearest: '文書には書かれていない可能性があります。最も近い記述：', open: '「', close: '」' },
  zh: { lead: '摘自文档：', nearest: '文档中可能没有说明这一点。最接近的内容：', open: '“', close: '”' },
};

export interface Quotation {
  readonly text: string;
  /** What stands behind it: numbers of the passages that say it, from 1, or the name of its source. */
  readonly of: readonly number[] | string;
}

export interface EvidenceText {
  readonly text: string;
  /** By their places in `text`. */
  readonly marks: readonly CitationMark[];
}

/** One quotation stands in the line of the lead, several in lines of their own. */
export function evidenceText(language: Language, quotations: readonly Quotation[], isSure: boolean): EvidenceText {
  const { lead, nearest, open, close } = FRAMES[language];
  const marks: CitationMark[] = [];
  let text = isSure ? lead : nearest;
  for (const { text: quoted, of } of quotations) {
    text += quotations.length > 1 ? '\n\n' : /[:]$/.test(text) ? ' ' : '';
    text += `${open}${quoted}${close} `;
    const mark = typeof of === 'string' ? `(${of})` : `[${of.join(', ')}]`;
    if (typeof of !== 'string') for (const n of of) marks.push({ n, start: text.length, end: text.length + mark.length });
    text += mark;
  }
  return { text, marks };
}

/** What stands in brackets behind a quotation. */
const BEHIND = / (?:\[\d{1,3}(?:, \d{1,3}){0,9}\]|\([^()\n]{1,120}\))$/;

/** An answer without the evidence that it ends with, which begins in a line of its own. */
export function withoutEvidence(answer: string): string {
  for (const { lead, nearest, open, close } of Object.values(FRAMES))
    for (const beginning of [lead, nearest]) {
      const start = answer.lastIndexOf(beginning);
      if (start < 0 || (start > 0 && answer[start - 1] !== '\n')) continue;
      const lines = answer
        .slice(start + beginning.length)
        .split('\n')
        .filter((line) => line !== '');
      const isQuotation = (line: string) => {
        const quoted = line.trimStart().replace(BEHIND, '');
        return quoted.startsWith(open) && quoted.endsWith(close);
      };
      if (lines.length > 0 && lines.every(isQuotation)) return answer.slice(0, start);
    }
  return answer;
}
