/** Every catalogue says everything, with the same gaps to fill, and nothing that no page shows. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { consoleTexts } from '../admin/texts.ts';
import { de } from './de.ts';
import { en } from './en.ts';

const [consoleEn, consoleDe] = [consoleTexts('en'), consoleTexts('de')];
const gaps = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
const root = join(import.meta.dirname, '..');
const paths = globSync('**/*.{ts,tsx}', { cwd: root }).filter(
  (path) => !path.startsWith('i18n/') && !path.startsWith('admin/texts') && !path.endsWith('.test.ts'),
);
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

for (const [name, english, german] of [
  ['all pages', en, de],
  ['the console', consoleEn, consoleDe],
] as const) {
  t.test(`of ${name}, German has the keys of English, each with a text and the same gaps`, async (t) => {
    t.strictSame(Object.keys(german).sort(), Object.keys(english).sort());
    for (const [key, text] of Object.entries(english)) {
      const translated = (german as Record<string, string>)[key] ?? '';
      t.ok(translated.trim() !== '' && text.trim() !== '', key);
      t.strictSame(gaps(translated), gaps(text), key);
    }
  });

  t.test(`every text of ${name} is shown somewhere`, async (t) => {
    const sources = paths.map(textOf).join('\n');
    // Keys that are put together: `theme_${theme}`, `${kind}_granted`.
    const stems = [...sources.matchAll(/t\(`(\w+_)\$\{/g)].map(([, stem = '']) => stem);
    const ends = [...sources.matchAll(/t\(`\$\{\w+\}(_\w+)`/g)].map(([, end = '']) => end);
    t.ok(stems.length >= 4);
    const isPutTogether = (key: string) => stems.some((stem) => key.startsWith(stem)) || ends.some((end) => key.endsWith(end));
    const isShown = (key: string): boolean => sources.includes(`'${key}'`) || isPutTogether(key);
    t.strictSame(
      Object.keys(english).filter((key) => !isShown(key)),
      [],
    );
  });
}

t.test('no key stands in two files of one catalogue', async (t) => {
  for (const [folder, catalogue] of [
    ['i18n/en', en],
    ['i18n/de', de],
    ['admin/texts', consoleEn],
  ] as const) {
    const files = globSync('*.ts', { cwd: join(root, folder) });
    const keys = files.flatMap((file) => textOf(join(folder, file)).match(/^ {2}\w+(?=:)/gm) ?? []);
    t.ok(files.length > 5, folder);
    t.strictSame(keys.map((key) => key.trim()).sort(), Object.keys(catalogue).sort(), folder);
  }
});

t.test('no text has two meanings, and the console’s stay in the console', async (t) => {
  t.strictSame(
    Object.keys(consoleEn).filter((key) => Object.hasOwn(en, key)),
    [],
  );
  const others = paths.filter((path) => !path.startsWith('admin/')).map(textOf);
  const keys = others.flatMap((source) => [...source.matchAll(/\bt\('(\w+)'/g)].map(([, key = '']) => key));
  t.ok(keys.length > 100);
  t.strictSame(
    keys.filter((key) => Object.hasOwn(consoleEn, key)),
    [],
  );
});
