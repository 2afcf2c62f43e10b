import fc from 'fast-check';
import t from 'tap';
import { cpuMsOf } from '../../../../../test/test-support/cpu-time.ts';
import type { Block } from '../../../extraction/extracted-document.ts';
import type { ExtractedDocument } from './document-text.ts';
import { documentText } from './document-text.ts';
import { cutDocument, DEFAULT_CUT } from './passage-cutter.ts';
import { readText } from './text-blocks.ts';

const numRuns = process.env['SVC_TEST_LONG'] ? 5_000 : 200;

const sentence = fc
  .array(fc.stringMatching(/^[a-zA-Zäöü0-9]{1,12}$/), { minLength: 1, maxLength: 25 })
  .map((words) => `${words.join(' ')}.`);
const prose = fc.oneof(
  fc.array(sentence, { minLength: 1, maxLength: 30 }).map((sentences) => sentences.join(' ')),
  fc.string({ unit: 'grapheme', maxLength: 3_000 }),
  fc.string({ unit: fc.constantFrom('京', '都', '。', 'は', '\u{20000}'), maxLength: 3_000 }),
);
const line = fc.oneof(sentence, fc.constantFrom('', '  ', `${'word '.repeat(230)}end`));
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant('paragraph' as const), text: prose, page: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ type: fc.constant('heading' as const), text: sentence, level: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ type: fc.constant('table-row' as const), text: sentence }),
  fc.record({ type: fc.constant('code' as const), text: fc.array(line, { maxLength: 20 }).map((lines) => lines.join('\n')) }),
);
const anyDocument: fc.Arbitrary<ExtractedDocument> = fc.record({
  kind: fc.constant('pdf'),
  blocks: fc.array(anyBlock, { maxLength: 20 }),
});

t.test('passages stand where they say, leave nothing out, and are neither long nor across pages', async () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const { text, blocks, passages } = cutDocument(document);
      let behind = 0;
      for (const [i, passage] of passages.entries()) {
        if (text.slice(passage.start, passage.end) !== passage.text) throw new Error('a passage stands elsewhere');
        if (passage.seq !== i || !passage.text.isWellFormed()) throw new Error('a passage is broken');
        if (text.slice(behind, passage.start).trim() !== '') throw new Error('text was left out');
        if (passage.end <= behind) throw new Error('a passage adds nothing');
        const pages = new Set(
          blocks.filter(({ start, end }) => start < passage.end && end > passage.start).map(({ block }) => block.page),
        );
        if (pages.size > 1 || !pages.has(passage.page)) throw new Error('a passage has another page');
        if (passage.text.length > DEFAULT_CUT.size + 1_000) throw new Error(`a passage of ${passage.text.length} characters`);
        behind = passage.end;
      }
      if (text.slice(behind).trim() !== '') throw new Error('the end was left out');
    }),
    { numRuns },
  );
});

t.test('no cut lies inside a row or a line of code', async () => {
  const rows = fc.array(fc.record({ type: fc.constantFrom('table-row' as const, 'code' as const), text: sentence }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(rows, (blocks) => {
      const { text, passages } = cutDocument({ kind: 'xlsx', blocks });
      for (const { start, end } of passages)
        if (!isLineEdge(text, start) || !isLineEdge(text, end)) throw new Error('a line was cut');
    }),
    { numRuns },
  );
});

function isLineEdge(text: string, at: number): boolean {
  return at === 0 || at === text.length || /\s/.test(text.charAt(at)) || text.charAt(at - 1) === '\n';
}

t.test('an empty line between lines that fill passages makes none of its own', async (t) => {
  const text = [...Array(11).fill('x'.repeat(100)), 'y'.repeat(88), '', 'z'.repeat(1_150)].join('\n');
  const { passages } = cutDocument({ kind: 'text', blocks: [{ type: 'code', text }] });
  t.strictSame(
    passages.map((passage) => passage.text.slice(-1)),
    ['y', 'z'],
  );
});

t.test('neighbours overlap by about 150 characters', async (t) => {
  const text = Array.from({ length: 120 }, (_, i) => `This is sentence number ${i} of a long chapter about the harbour.`).join(
    ' ',
  );
  const { passages } = cutDocument(readText(text, 'text'));
  t.ok(passages.length > 5);
  for (const [i, { start, end }] of passages.entries()) {
    const before = passages[i - 1];
    if (before !== undefined) t.ok(before.end - start >= 60 && before.end - start <= 300, `${before.end - start}`);
    t.ok(end - start <= 1_200);
  }
});

t.test('Markdown has its headings as a path, and its fences and tables as they stand', async (t) => {
  const body = 'x'.repeat(300).replace(/x{10}/g, 'some words ');
  const markdown = `# Guide\n\n${body}\n\n## Install\n\n${body}\n\n\`\`\`sh\n# no heading\nmake\n\`\`\`\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n## Use #\n${body}`;
  const document = readText(markdown, 'markdown');
  t.equal(document.title, 'Guide');
  const { passages } = cutDocument(document);
  t.strictSame(
    passages.map(({ heading }) => heading),
    ['Guide', 'Guide > Install', 'Guide > Use'],
  );
  t.match(passages[1]?.text, /# no heading\nmake\n\n\| a \| b \|\n\| 1 \| 2 \|$/);
});

t.test('a heading stays with what follows it', async (t) => {
  const blocks: Block[] = [
    { type: 'paragraph', text: 'One sentence of many. '.repeat(54) },
    { type: 'heading', level: 2, text: 'Next' },
    { type: 'paragraph', text: 'What belongs to it. '.repeat(20) },
  ];
  const { passages } = cutDocument({ kind: 'docx', blocks });
  t.strictSame(
    passages.map(({ text }) => text.startsWith('Next')),
    [false, true],
  );
});

t.test('long and hostile text is cut in bounded time', async (t) => {
  for (const text of [
    'a'.repeat(2e6),
    'a. '.repeat(5e5),
    '\n'.repeat(1e6),
    '# '.repeat(5e5),
    `# ${' '.repeat(1e6)}x`,
    '|'.repeat(1e6),
    '京'.repeat(1e6),
    '\u0301'.repeat(1e6),
    '```\n'.repeat(3e5),
  ]) {
    const tookMs = cpuMsOf(() => cutDocument(readText(text, 'markdown')));
    t.ok(tookMs < 15_000, `${JSON.stringify(text.slice(0, 5))} took ${Math.round(tookMs)} ms`);
  }
});

t.test('what databases cannot store is gone', async (t) => {
  const { text } = documentText({ kind: 'text', blocks: [{ type: 'paragraph', text: 'a\0b\ud800c' }] });
  t.equal(text, 'ab\ufffdc');
});

t.test(
  'a sentence of a recording is in a passage that begins within 2 s of it, and a passage is made of whole sentences',
  async (t) => {
    const speakers = { brisk: 0.8, slow: 7.3 };
    for (const [name, seconds] of Object.entries(speakers)) {
      const said = Array.from({ length: 200 }, (_, i): Block => {
        // Every third one is told in two breaths.
        const text = i % 3 === 0 ? `Half of number ${i},` : `The rest of number ${i - 1}, or all of number ${i}.`;
        return { type: 'paragraph', text, startSeconds: i * seconds, endSeconds: i * seconds + seconds * 0.9 };
      });
      const { text: whole, passages } = cutDocument({ kind: 'audio-transcript', blocks: said });
      for (const { text } of passages) t.match(text, /^(Half|The rest).*\.$/s, name);
      for (const { text, startSeconds = -1, endSeconds = -1 } of said) {
        const at = whole.indexOf(text);
        const passage = passages.find(({ start, end }) => start <= at && at < end);
        const isContinued = text.startsWith('The rest') && passage?.text.startsWith('Half');
        const late = startSeconds - (passage?.startSeconds ?? Number.NEGATIVE_INFINITY);
        t.ok(late >= 0 && late <= 2 + (isContinued ? seconds : 0), `${name}: ${text} ${late}`);
        t.ok((passage?.endSeconds ?? -1) >= endSeconds);
      }
    }
  },
);

t.test('speech in which no sentence ends is cut all the same', async (t) => {
  const blocks = Array.from(
    { length: 300 },
    (_, i): Block => ({
      type: 'paragraph',
      text: `and so on and on ${i}`,
      startSeconds: i,
      endSeconds: i + 1,
    }),
  );
  const { passages } = cutDocument({ kind: 'audio-transcript', blocks });
  t.ok(passages.length > 5);
  for (const { text } of passages) t.ok(text.length <= 400);
});
