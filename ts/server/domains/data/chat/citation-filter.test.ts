import fc from 'fast-check';
import t from 'tap';
import { cpuMsOf } from '../../../../../test/test-support/cpu-time.ts';
import { CitationFilter } from './citation-filter.ts';

/** Each mark with the sentence that it was judged by; those of `wrong` do not hold. */
function judged(answer: string, wrong: readonly number[] = []) {
  const seen: [number, string][] = [];
  const filter = new CitationFilter((n, sentence) => {
    seen.push([n, sentence]);
    return !wrong.includes(n);
  });
  const text = filter.push(answer) + filter.end();
  return { text, seen, marks: filter.marks.map(({ n, start, end }) => [n, text.slice(start, end)]) };
}

const sentences = (answer: string) => judged(answer).seen;

t.test('a mark is judged by the sentence that it belongs to', async (t) => {
  t.strictSame(sentences('It is high [1]. It is red [2].'), [
    [1, 'It is high'],
    [2, 'It is red'],
  ]);
  t.strictSame(sentences('It was built in 1893. [1] It is red.'), [[1, 'It was built in 1893.']]);
  t.strictSame(sentences('One\nTwo [1, 3]'), [
    [1, 'Two'],
    [3, 'Two'],
  ]);
  t.strictSame(sentences('As [2] says, it is 1.5 m high. It is red.'), [[2, 'As says, it is 1.5 m high']]);
  t.strictSame(sentences('灯塔很高[1]。它是红色的[2]。'), [
    [1, '灯塔很高'],
    [2, '它是红色的'],
  ]);
});

t.test('what does not hold is left out, with the space before it', async (t) => {
  t.match(judged('It is high [1]. It is red [7].', [7]), { text: 'It is high [1]. It is red.', marks: [[1, '[1]']] });
  t.match(judged('It is high [1, 7, 2]!', [7]), {
    text: 'It is high [1, 2]!',
    marks: [
      [1, '[1, 2]'],
      [2, '[1, 2]'],
    ],
  });
  t.match(judged('Two [7][2] things', [7]), { text: 'Two[2] things', marks: [[2, '[2]']] });
  t.match(judged('[7]', [7]), { text: '', marks: [] });
  t.match(judged('A line [7]\nand more', [7]), { text: 'A line\nand more' });
});

t.test('what is no citation stays as it is', async (t) => {
  for (const answer of ['An array a[x] and [1234] and [].', 'Nothing [', 'Open [1, ', 'a [ 1 b', 'trailing   ', '[[', '\\[x\\]'])
    t.match(judged(answer, [1]), { text: answer, marks: [] }, answer);
  const code = 'Use `a[7]`, or\n```\nb[7] = 1;\n```\nThat is all [7].';
  t.match(judged(code, [7]), { text: code.replace(' [7].', '.'), marks: [] });
});

t.test('text waits only for what a mark needs', async (t) => {
  const filter = new CitationFilter((n) => n === 1);
  t.equal(filter.push('It is high'), 'It is high');
  t.equal(filter.push(' '), '', 'the space may stand before a mark');
  t.equal(filter.push('['), '');
  t.equal(filter.push('1'), '');
  t.equal(filter.push(']'), '', 'the sentence may go on');
  t.equal(filter.push('.'), ' [1].');
  t.equal(filter.push(' Also ['), ' Also');
  t.equal(filter.push('x] is'), ' [x] is');
  t.equal(filter.push(' wide [2] and '), ' wide');
  const long = 'it goes on and on without any end of it';
  t.equal(filter.push(long).length > 0, true, 'the sentence is not waited for without end');
  t.equal(filter.end(), '');
});

t.test('how an answer comes in pieces changes nothing, and marks stand where they are said to', async () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom(
      '[1]',
      ' [2, 3]',
      '. ',
      '。',
      '\n',
      '[',
      '] ',
      '[[1]]',
      '`',
      '```',
      ' 1.5',
      ' word',
      ' [2].',
      '[1] and so on',
    ),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(9), { maxLength: 60 }), (pieces, cuts) => {
      const answer = pieces.join('');
      const whole = judged(answer, [2]);
      const filter = new CitationFilter((n) => n !== 2);
      let text = '';
      let at = 0;
      for (const cut of cuts) {
        text += filter.push(answer.slice(at, at + cut));
        at += cut;
      }
      text += filter.push(answer.slice(at)) + filter.end();
      if (text !== whole.text) throw new Error(`${JSON.stringify(text)} is not ${JSON.stringify(whole.text)}`);
      for (const { n, start, end } of filter.marks) {
        const mark = text.slice(start, end);
        if (!/^\[[\d,\s]+\]$/.test(mark) || !mark.includes(String(n)) || n === 2) throw new Error('elsewhere');
      }
    }),
    { numRuns: 2_000 },
  );
});

t.test('long answers are read in bounded time, in one piece and in many', async (t) => {
  for (const answer of [
    '[1]'.repeat(20_000),
    `${'a '.repeat(200_000)}[1]`,
    '. [1]'.repeat(20_000),
    '[ 1 , '.repeat(50_000),
    ' '.repeat(300_000),
  ]) {
    const ms = cpuMsOf(() => {
      judged(answer);
      const filter = new CitationFilter(() => true);
      for (let at = 0; at < answer.length; at += 5) filter.push(answer.slice(at, at + 5));
    });
    t.ok(ms < 10_000, `${answer.slice(0, 6)}: ${Math.round(ms)} ms`);
  }
});
