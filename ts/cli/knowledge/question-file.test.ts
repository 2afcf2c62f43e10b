import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { readMemoryQuestions, readQuestions } from './question-file.ts';

const path = join(t.testdir(), 'questions.json');

async function read(text: string): Promise<unknown> {
  await writeFile(path, text);
  return await readQuestions(path).catch((error: unknown) => error);
}

t.test('an array and lines say the same', async (t) => {
  const questions = [
    { question: 'When?', source: 'a.md', page: 3 },
    { question: 'Who?', sources: ['a.md', 'b.md'] },
    { question: 'How many?', unanswerable: true },
  ];
  const expected = [
    { question: 'When?', sources: ['a.md'], pages: [3] },
    { question: 'Who?', sources: ['a.md', 'b.md'], pages: [] },
    { question: 'How many?', sources: [], pages: [] },
  ];
  t.strictSame(await read(`\ufeff${JSON.stringify(questions, null, 2)}`), expected);
  t.strictSame(await read(`${questions.map((each) => JSON.stringify(each)).join('\r\n')}\n\n`), expected);
});

t.test('what is no question is refused with its place', async (t) => {
  for (const [text, expected] of [
    ['{"question": "x"}', /line 1 .*either sources/],
    ['{"question": "x", "sources": ["a"], "unanswerable": true}', /line 1 .*either sources/],
    ['{"question": "", "sources": ["a"]}', /question is missing/],
    ['{"question": "x", "sources": [7]}', /sources must be texts/],
    ['{"question": "x", "sources": ["a", "b"], "page": 1}', /pages need one source/],
    ['{"question": "x", "sources": ["a"], "page": 0}', /pages must be numbers/],
    ['{"question": "x", "source": "a"}\nnot json', /line 2 .*no JSON/],
    ['[{"question": "x", "source": "a"}, 7]', /question 2 .*no object/],
    ['[]', /no questions/],
    ['', /no questions/],
  ] as const)
    t.match(await read(text), { message: expected, exit: 'usage' }, text);
  t.match(await readQuestions('/nowhere').catch((error: unknown) => error), { message: /no file/ });
});

t.test('questions about memories name them, or say that nothing was said', async (t) => {
  const readMemories = async (text: string): Promise<unknown> => {
    await writeFile(path, text);
    return await readMemoryQuestions(path).catch((error: unknown) => error);
  };
  t.strictSame(await readMemories('{"question": "Where?", "memory": "Berlin"}\n{"question": "Who?", "never_said": true}'), [
    { question: 'Where?', memories: ['Berlin'] },
    { question: 'Who?', memories: [] },
  ]);
  for (const [text, expected] of [
    ['{"question": "x"}', /either memories/],
    ['{"question": "x", "memories": ["a"], "never_said": true}', /either memories/],
    ['{"question": "x", "memories": [" "]}', /memories must be texts/],
  ] as const)
    t.match(await readMemories(text), { message: expected });
});
