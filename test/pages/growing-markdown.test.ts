/** What is drawn while an answer is written is what is drawn of it as a whole, wherever its pieces end. In a real browser, without a server. */
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { iterations } from '../test-support/iterations.ts';
import { openBrowser, whyNoBrowser } from './browser.ts';
import { hostileTexts } from './hostile-texts.ts';

const PIECES = [
  ...[
    'A **queue** holds what waits',
    ', and `admit()` takes the *oldest* first. ',
    'Words follow words here, ',
    'größer ',
    '1. ',
    '2. one\n',
    '3. two\n',
  ],
  ...[
    '- first\n',
    '- second **bold**\n',
    '  - nested\n',
    '\n',
    '\n\n',
    '# Head\n',
    '## Second head\n\n',
    '> quoted\n',
    '---\n',
    '    code\n',
  ],
  ...[
    '| step | rows |\n| --- | ---: |\n',
    '| prefill | 512 |\n',
    '| decode | 32 |\n',
    '```ts\nconst a = 1;\n',
    '// more\n',
    '```\n\n',
    '~~~\n',
  ],
  ...[
    '[a link](https://a.example/b)',
    ' https://b.example/c ',
    '![picture](https://c.example/d.png)',
    '$x^2$',
    '\\(y\\)',
    '$$\nz\n$$\n',
    '~~gone~~ ',
    '_so_ ',
  ],
  ...['&amp; ', '\\* ', '`code` ', '* ', '** ', '_', '`', '[', '](', '<b>', '<script>', 'end.\n\n'],
];

/** Runs in the page. */
interface Renderer {
  GrowingMarkdown: new (root: HTMLElement) => { append(text: string): void };
  drawMarkdown(root: HTMLElement, text: string): void;
}

t.test('an answer that grows', { skip: whyNoBrowser() }, async (t) => {
  const entry = join(import.meta.dirname, '../../ts/web/chat/markdown/drawing.ts');
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'renderer',
    minify: true,
    loader: { '.woff2': 'dataurl', '.woff': 'dataurl', '.ttf': 'dataurl' },
    outdir: 'out',
    logLevel: 'error',
    // Colours and formulas come later, and change what is compared.
    external: ['./grammars.ts', './typesetter.ts'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const browser = await openBrowser(t);
  const page = await browser.newPage();
  await page.setContent('<!doctype html><title>growing</title><body></body>');
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
  await page.evaluate(() => Object.assign(globalThis, { ran: 0, alert: () => Object.assign(globalThis, { ran: 1 }) }));

  await t.test('has the elements and the text of the whole, cut anywhere', async (t) => {
    const nTexts = iterations(1_500, 30_000);
    const wrong = await page.evaluate(compareMany, { pieces: PIECES, nTexts });
    t.strictSame(wrong, []);
  });

  await t.test('has no element and no attribute of a hostile text, and nothing runs', async (t) => {
    const found = await page.evaluate(drawHostile, hostileTexts);
    t.strictSame(found, []);
    t.equal(await page.evaluate(() => (globalThis as unknown as { ran: number }).ran), 0);
  });
});

/** Lists while they grow are as tight as their first items, so that paragraphs in items are not compared; blank text neither. */
function compareMany({ pieces, nTexts }: { pieces: readonly string[]; nTexts: number }): string[] {
  const { GrowingMarkdown, drawMarkdown } = (globalThis as unknown as { renderer: Renderer }).renderer;
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((seed / 0x80000000) * below);
  };
  const shapeOf = (root: HTMLElement): string => {
    for (const button of root.querySelectorAll('.block-bar')) button.remove();
    const parts: string[] = [];
    const walk = (node: Node): void => {
      if (node instanceof Text) parts.push(node.data.replace(/\s+/g, ''));
      if (!(node instanceof Element)) return;
      const isLoose = node.tagName === 'P' && node.parentElement?.tagName === 'LI';
      if (!isLoose) parts.push(`<${node.tagName}>`);
      for (const child of node.childNodes) walk(child);
      if (!isLoose) parts.push('</>');
    };
    for (const child of root.childNodes) walk(child);
    return parts.join('');
  };
  const wrong: string[] = [];
  for (let n = 0; n < nTexts && wrong.length < 3; n++) {
    const text = Array.from({ length: 1 + random(14) }, () => pieces[random(pieces.length)]).join('');
    const growing = document.createElement('div');
    const view = new GrowingMarkdown(growing);
    for (let at = 0; at < text.length; ) {
      const length = 1 + random(9);
      view.append(text.slice(at, at + length));
      at += length;
    }
    const whole = document.createElement('div');
    drawMarkdown(whole, text);
    const [grown, drawn] = [shapeOf(growing), shapeOf(whole)];
    if (grown !== drawn) wrong.push(`${JSON.stringify(text)}\n  grown ${grown}\n  whole ${drawn}`);
  }
  return wrong;
}

function drawHostile(texts: readonly string[]): string[] {
  const { GrowingMarkdown } = (globalThis as unknown as { renderer: Renderer }).renderer;
  const TAGS =
    /^(p|br|hr|strong|em|s|code|pre|blockquote|a|img|span|h[1-6]|ul|ol|li|table|thead|tbody|tr|th|td|div|button|svg|path)$/i;
  const ATTRIBUTES =
    /^(href|src|alt|title|class|start|dir|rel|target|tabindex|role|type|viewBox|aria-\w+|focusable|d|data-language)$/;
  const found: string[] = [];
  for (const text of texts) {
    const root = document.body.appendChild(document.createElement('div'));
    const view = new GrowingMarkdown(root);
    for (let at = 0; at < text.length; at += 3) view.append(text.slice(at, at + 3));
    for (const element of root.querySelectorAll('*')) {
      if (!TAGS.test(element.tagName)) found.push(`${element.tagName} of ${text.slice(0, 80)}`);
      for (const { name, value } of element.attributes) {
        const isAddress = name === 'href' || name === 'src';
        if (!ATTRIBUTES.test(name)) found.push(`${name} of ${text.slice(0, 80)}`);
        if (isAddress && !/^(https?:\/\/|mailto:|data:image\/(png|jpeg|gif|webp);base64,)/i.test(value))
          found.push(`${value.slice(0, 80)}`);
        if (name === 'src' && !value.startsWith('data:image/')) found.push(`loads ${value.slice(0, 80)}`);
      }
    }
    root.remove();
  }
  return found;
}
