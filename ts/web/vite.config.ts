/** How the pages are built: three pages, shared chunks with a hash in their names, nothing inline. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const root = import.meta.dirname;

/** The document of the sandbox, which has no part in the other pages' chunks: its script stands in it. */
const sandboxPage: Plugin = {
  name: 'sandbox-page',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'sandbox.html', source: readFileSync(join(root, 'sandbox/sandbox.html')) });
  },
};

/** Windows and what draws answers: the chat fetches them behind its first drawing. */
const LATER =
  /-dialog\.tsx|-panel\.tsx|palette|prompts.|sandbox.|found-artifacts|kept-artifact|knowledge.(base-|drop-)|markdown.(?!renderer|block-choice|citation-choice)/;

/** Every browser that runs the pages reads WOFF2; KaTeX brings two older formats of each font. */
const newFontsOnly: Plugin = {
  name: 'new-fonts-only',
  enforce: 'pre',
  transform: (code, id) =>
    id.endsWith('katex.min.css') ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[^"]*"\)/g, '') : undefined,
};

// biome-ignore lint/style/noDefaultExport: Vite reads the default export
export default defineConfig({
  root,
  base: '/',
  // A checkout's own folder: another one's cache names other files.
  cacheDir: join(root, '../../build/web-cache'),
  publicDir: false,
  plugins: [sandboxPage, newFontsOnly],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(root, '../../build/web'),
    emptyOutDir: true,
    target: 'es2022',
    // An inlined file would be a data: address, which the pages' policy does not load as a script or a style.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['chat', 'login', 'admin'].map((page) => join(root, `${page}.html`)),
      output: {
        // Hexadecimal: the server takes a name for hashed by the digits in it.
        hashCharacters: 'hex',
        entryFileNames: 'assets/[name]-[hash:12].js',
        chunkFileNames: 'assets/[name]-[hash:12].js',
        assetFileNames: 'assets/[name]-[hash:12][extname]',
        // One file of what all pages share and one of what the chat begins with, in the place of a dozen small ones each.
        codeSplitting: {
          groups: [
            { name: 'shared', test: /ts.(client|web.(api|design|session))|i18n.(en|language|format)|node_modules.@?preact/ },
            {
              name: 'conversation',
              test: (id) => /ts.web.chat.[^?]*\.tsx?$/.test(id) && !LATER.test(id) && !id.endsWith('main.tsx'),
            },
          ],
        },
      },
    },
  },
});
