/** Subtitles. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import { iterations } from '../../../../../test/test-support/iterations.ts';
import { random } from '../../../../../test/test-support/seed.ts';
import { type HeardSegment, srtOf, textOf, vttOf } from './transcript.ts';

const segment = (text: string, begin: number, end: number): HeardSegment => ({
  text,
  begin,
  end,
  avgLogprob: 0,
  noSpeechProb: 0,
  tokens: [],
  texts: [],
  logprobs: [],
  words: [],
});

t.test('the text is that of all segments', (t) => {
  t.equal(textOf([segment(' Two words,', 0, 1), segment(' and more.', 1, 2)]), 'Two words, and more.');
  t.equal(textOf([]), '');
  t.end();
});

t.test('SubRip and WebVTT', (t) => {
  const segments = [segment(' A < B & C', 0, 1.5), segment(' far --> away', 3661.25, 3662)];
  t.equal(srtOf(segments), '1\n00:00:00,000 --> 00:00:01,500\nA < B & C\n\n2\n01:01:01,250 --> 01:01:02,000\nfar -> away\n\n');
  t.equal(
    vttOf(segments),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nA &lt; B &amp; C\n\n01:01:01.250 --> 01:01:02.000\nfar -&gt; away\n\n',
  );
  t.equal(srtOf([]), '');
  t.equal(vttOf([]), 'WEBVTT\n\n');
  t.end();
});

t.test(
  'lines have at most 42 columns, of which East Asian letters take two, and cues at most two lines that do not overlap',
  (t) => {
    const texts = [
      ' It goes on and on, word after word.'.repeat(20),
      '漢字'.repeat(100),
      'x'.repeat(300),
      ' 한국어와 English 섞어'.repeat(15),
    ];
    const blocks = srtOf(texts.map((text, i) => segment(text, i * 10, i * 10 + 10)))
      .trim()
      .split('\n\n');
    let last = '';
    for (const block of blocks) {
      const [, times = '', ...lines] = block.split('\n');
      const [begin = '', end = ''] = times.split(' --> ');
      t.ok(begin >= last && end >= begin, times);
      last = end;
      t.ok(lines.length >= 1 && lines.length <= 2);
      for (const line of lines)
        t.ok([...line].reduce((sum, letter) => sum + (/[\u1100-\uffff]/.test(letter) ? 2 : 1), 0) <= 42, line);
    }
    t.equal(last, '00:00:40,000');
    t.end();
  },
);

/** Columns of letters that whoever writes a player knows. */
const COLUMNS = {
  a: 1,
  é: 1,
  ß: 1,
  '-': 1,
  '>': 1,
  '&': 1,
  '<': 1,
  ' ': 1,
  '\n': 1,
  漢: 2,
  か: 2,
  カ: 2,
  한: 2,
  '，': 2,
  '😀': 2,
};

t.test('whatever is said, both files parse, hold each letter, and keep to lines and times', (t) => {
  const letters = Object.keys(COLUMNS);
  const spoken = fc.record({
    // Arrows, which end the line of times in both formats, would be rare among letters.
    text: fc.array(fc.constantFrom(...letters, ...letters, '-->', 'word ')).map((parts) => parts.join('')),
    pause: fc.integer({ min: 0, max: 500 }),
    hundredths: fc.integer({ min: 0, max: 1_000 }),
  });
  const property = fc.property(fc.array(spoken, { maxLength: 8 }), (all) => {
    let at = 0;
    const segments = all.map(({ text, pause, hundredths }) => {
      const begin = at + pause;
      at = begin + hundredths;
      return segment(text, begin / 100, at / 100);
    });
    const expected = textOf(segments)
      .replaceAll(/\s/g, '')
      .replaceAll(/-{2,}>/g, '->');
    const [srt, vtt] = [srtOf(segments), vttOf(segments)];
    assert.ok(vtt.startsWith('WEBVTT\n\n'));
    for (const { text, pattern, index } of [
      { text: srt, pattern: /^\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}$/, index: true },
      { text: vtt.slice(8), pattern: /^\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}$/, index: false },
    ]) {
      let last = '';
      let heard = '';
      for (const [i, block] of text.split('\n\n').slice(0, -1).entries()) {
        const [times = '', ...lines] = block.split('\n').slice(index ? 1 : 0);
        if (index) assert.equal(block.split('\n')[0], `${i + 1}`);
        assert.match(times, pattern);
        const [begin = '', end = ''] = times.split(' --> ');
        assert.ok(begin >= last && end >= begin, times);
        last = end;
        assert.ok(lines.length >= 1 && lines.length <= 2, block);
        for (const escaped of lines) {
          assert.ok(!escaped.includes('-->'), escaped);
          const line = index ? escaped : escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
          const columns = [...line].reduce((sum, letter) => sum + (COLUMNS[letter as keyof typeof COLUMNS] ?? 1), 0);
          assert.ok(columns >= 1 && columns <= 42, line);
          heard += line.replaceAll(' ', '');
        }
      }
      assert.equal(heard.replaceAll(/-{2,}>/g, '->'), expected);
    }
  });
  fc.assert(property, { numRuns: iterations(300, 3_000), seed: random.integer(2 ** 31) });
  t.end();
});
