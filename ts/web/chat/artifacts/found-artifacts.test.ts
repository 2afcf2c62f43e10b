import t from 'tap';
import { versionsOf } from './found-artifacts.ts';

const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\`\`\``;
const counter = (from: number): string =>
  `let count = ${from};\nfor (const step of [1, 2, 3]) count += step;\nconsole.log('the count is', count);\n`;
const clock = 'const now = new Date();\ndocument.title = now.toISOString();\nsetInterval(() => location.reload(), 60_000);\n';
const messagesOf = (...contents: string[]) => contents.map((content, index) => ({ id: `m${index}`, content }));

t.test('blocks without a title are versions of each other where their texts are alike', async (t) => {
  const messages = messagesOf(block('js', counter(0)), block('js', clock), block('js', counter(7)));
  const versions = versionsOf(messages, { language: 'js', text: counter(0) });
  t.strictSame(
    versions.map(({ messageId }) => messageId),
    ['m0', 'm2'],
  );
  t.equal(versionsOf(messages, { language: 'js', text: clock }).length, 1);
});

t.test('a version that resembles only the one between is found by way of it', async (t) => {
  const words = Array.from({ length: 40 }, (_, i) => `word${i}`);
  const textOf = (from: number): string => `${words.slice(from, from + 20).join(' ')}\n`;
  const messages = messagesOf(...[0, 8, 16].map((from) => block('svg', textOf(from))));
  t.equal(versionsOf(messages, { language: 'svg', text: textOf(0) }).length, 3);
});

t.test('blocks of one title are versions whatever they hold, and those of another language are none', async (t) => {
  const page = (text: string): string => `<title>Clock</title><p>${text}</p>\n`;
  const messages = messagesOf(block('html', page('one two three')), block('html', page('vier')), block('js', counter(1)));
  t.equal(versionsOf(messages, { language: 'html', text: page('vier') }).length, 2);
  t.equal(versionsOf(messages, { language: 'python', text: counter(1) }).length, 1);
});
