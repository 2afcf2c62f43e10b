import t from 'tap';
import { CitationFilter } from '../chat/citation-filter.ts';
import type { CitationMark } from '../knowledge-context.ts';
import { EvidenceFilter } from './evidence-filter.ts';

const QUOTATION = 'From the documents: “Mira Doll keeps it.”';

/** As if no passage said anything of 1894. */
function unsupported(answer: string, marks: readonly CitationMark[]) {
  const start = answer.indexOf('1894');
  return start < 0 ? [] : marks.map(({ n }) => ({ n, text: '1894', start, end: start + 4 }));
}

function answered(answer: string, hasQuotation = true, isFound = true) {
  let nAsked = 0;
  const quote = () => {
    nAsked += 1;
    const end = QUOTATION.length + ' [3]'.length;
    return hasQuotation ? { text: `${QUOTATION} [3]`, marks: [{ n: 3, start: end - 3, end }] } : undefined;
  };
  const filter = new EvidenceFilter(new CitationFilter((n) => n === 1, unsupported), quote, isFound);
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

t.test(
  'evidence stands behind an answer that says what its passages do not, and behind one that denies what was found',
  async (t) => {
    t.match(answered('It was built in 1894 [1].'), {
      text: `It was built in 1894 [1].\n\n${QUOTATION} [3]`,
      marks: [
        [1, '[1]'],
        [3, '[3]'],
      ],
    });
    for (const denial of [
      'The passages do not say who keeps it [1].',
      'This is not mentioned in the documents [1].',
      'Das steht nicht in den Dokumenten [1].',
      'Die Passagen enthalten dazu keine Angaben [1].',
      'В документах об этом ничего не сказано [1].',
      '文档中没有提到看守人[1]。',
    ]) {
      t.match(answered(denial).text, /From the documents/, denial);
      t.equal(answered(denial, true, false).text, denial, 'where nothing is sure, it may be right');
    }
    for (const answer of ['It is not open on Sundays [1].', 'Der Turm ist nicht hoch [1].'])
      t.equal(answered(answer).text, answer, 'no denial of the documents');
  },
);
