/** Subtitles. */
import t from 'tap';
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
