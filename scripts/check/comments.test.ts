import t from 'tap';
import { headlessComments, isHeadless } from './comments.ts';

t.test('a comment begins with its subject or its verb', async (t) => {
  const table: [comment: string, isHeadless: boolean][] = [
    ['Of the base to end before.', true],
    ['What the stages know of an answer.', true],
    ['Whose models may answer; by default the caller’s.', true],
    ['For tests.', true],
    ['In bytes: the most, and the least.', true],
    ['The base that ends first.', false],
    ['Reads the body of a request.', false],
    ['For other callers, the list is empty.', false],
    ['Formats a date.', false],
    ['Whatever the caller sends is checked.', false],
    ['Whether the node asks for credentials.', false],
    ['', false],
  ];
  for (const [comment, expected] of table) t.equal(isHeadless(comment), expected, comment);
});

t.test('a comment is named by its place', async (t) => {
  const text =
    "const a = 1;\n\n  /**\n   * Of the\n   * caller.\n   */\nconst b = 2;\n/** The caller. */\n// Of no doc comment.\nconst c = '/** Of a text. */';\n";
  t.strictSame(headlessComments(new Map([['ts/a.ts', text]])), ['ts/a.ts:3: Of the caller.']);
});
