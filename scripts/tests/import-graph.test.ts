import t from 'tap';
import { ImportGraph } from './import-graph.ts';

t.test('what a file imports, starts and names is its own, and what those need; types are not', async (t) => {
  const root = t.testdir({
    ts: {
      'a.ts': `import { b } from './b.ts';\nimport type { Shape } from './shape.ts';\nexport * from '../lib/c.mjs';\nawait import('./late.ts');`,
      'b.ts': `const program = new URL('./worker.ts', import.meta.url);\nconst sql = join(import.meta.dirname, 'schema.json');`,
      'worker.ts': `import { a } from './a.ts';`,
      'schema.json': '{"a": "./unread.ts"}',
      'late.ts': `readFileSync('docs/page.md'); import 'tap';`,
      'shape.ts': '',
      'unread.ts': '',
    },
    lib: { 'c.mjs': '' },
    docs: { 'page.md': '' },
  });
  const graph = new ImportGraph(root);
  const all = ['docs/page.md', 'lib/c.mjs', 'ts/a.ts', 'ts/b.ts', 'ts/late.ts', 'ts/schema.json', 'ts/worker.ts'];
  t.strictSame([...graph.closure('ts/a.ts')].sort(), all);
  const cut = [...graph.closure('ts/a.ts', (path) => path === 'ts/b.ts')].sort();
  t.strictSame(cut, ['docs/page.md', 'lib/c.mjs', 'ts/a.ts', 'ts/b.ts', 'ts/late.ts']);
});
