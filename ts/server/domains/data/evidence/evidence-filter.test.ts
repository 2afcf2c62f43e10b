import t from 'tap';
import { CitationFilter } from '../chat/citation-filter.ts';
import { EvidenceFilter } from './evidence-filter.ts';

const QUOTATION = 'From the documents: “Mira Doll keeps it.”';

function answered(answer: string, hasQuotation = true) {
  let nAsked = 0;
  const quote = () => {
    nAsked += 1;
    const end = QUOTATION.length + ' [3]'.length;
    return hasQuotation ? { text: `${QUOTATION} [3]`, marks: [{ n: 3, start: end - 3, end }] } : undefined;
  };
  const filter = new EvidenceFilter(new CitationFilter((n) => n === 1), quote);
  const text = [...answer].map((piece) => filter.push(piece)).join('') + filter.end() + filter.conclude();
  return { text, nAsked, marks: filter.marks.map(({ n, start, end }) => [n, text.slice(start, end)]) };
}

t.test('an answer without a citation that holds ends with the quotation and its citation', async (t) => {
  const marks = [[3, '[3]']];
  t.match(answered('It is Mira [2].'), { text: `It is Mira.\n\n${QUOTATION} [3]`, marks });
  t.match(answered('It is Mira.\n'), { text: `It is Mira.\n\n${QUOTATION} [3]`, marks });
  t.match(answered(''), { text: `${QUOTATION} [3]`, marks }, 'whatever the model says');
  t.match(answered('Use `mira'), { text: `Use \`mira\n\n${QUOTATION} [3]`, marks }, 'a line break ends what stands in the line');
  t.match(answered('```\nmira\n```'), { text: `\`\`\`\nmira\n\`\`\`\n\n${QUOTATION} [3]`, marks });
});

t.test('an answer that cites rightly stays as it is, and so does one where nothing can be quoted', async (t) => {
  t.match(answered('It is Mira [1].'), { text: 'It is Mira [1].', marks: [[1, '[1]']], nAsked: 0 });
  t.match(answered('It is Mira.', false), { text: 'It is Mira.', marks: [] });
});

t.test('a fence that was never closed takes no quotation in', async (t) => {
  t.match(answered('```\nmira'), { text: '```\nmira', marks: [], nAsked: 0 });
});
