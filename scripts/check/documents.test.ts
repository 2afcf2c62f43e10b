import t from 'tap';
import { exampleFaults, limitFaults, linkFaults, moduleFaults, phraseFaults, unreachedPages, walkFaults } from './documents.ts';

const lines = (n: number) => 'A line.\n'.repeat(n);

t.test('a page that is longer than its readers like is named', async (t) => {
  t.strictSame(limitFaults('README.md', lines(192)), []);
  t.match(limitFaults('README.md', lines(193)), [/README\.md has 193 lines, at most 192/]);
  t.match(limitFaults('docs/README.md', lines(61)), [/at most 60/]);
  t.match(limitFaults('docs/use/files.md', lines(121)), [/at most 120/]);
  t.match(limitFaults('ARCHITECTURE.md', lines(221)), [/at most 220/]);
  t.match(limitFaults('ts/server/domains/data/README.md', lines(61)), [/at most 60/]);
  t.match(limitFaults('native/llama/README.md', lines(61)), [/at most 60/]);
  t.strictSame(limitFaults('docs/reference/settings.md', lines(2000)), [], 'what is generated is looked up, not read');
});

t.test('a line that is wider than a screen is named, rows of tables are not', async (t) => {
  t.match(limitFaults('docs/use/files.md', `# Files\n${'x'.repeat(161)}\n|${'x'.repeat(200)}|`), [
    /^docs\/use\/files\.md:2 has 161/,
  ]);
});

t.test('a guide begins with an example', async (t) => {
  t.strictSame(exampleFaults('docs/use/files.md', '# Files\n\nSend one.\n\n```sh\ncurl\n```\n\n## More'), []);
  t.strictSame(exampleFaults('docs/use/pages.md', '# Pages\n\n![The chat](chat.png)'), []);
  t.match(exampleFaults('docs/use/files.md', '# Files\n\n## Why\n\n```sh\ncurl\n```'), [/without an example/]);
  t.match(exampleFaults('docs/use/files.md', `# Files\n${lines(12)}\`\`\`sh\ncurl\n\`\`\``), [/in its first 12 lines/]);
});

t.test('words that readers stumble over are named, except in generated pages', async (t) => {
  t.match(phraseFaults('docs/use/files.md', 'One.\nIt is told of the change.'), [
    /files\.md:2 has "is told of", write: is reported/,
  ]);
  t.match(phraseFaults('SECURITY.md', 'The index is made anew.'), [/"anew", write: again/]);
  t.strictSame(phraseFaults('docs/reference/commands.md', 'Make it anew.'), []);
});

const targets = new Set(['README.md', 'docs', 'docs/a.md', 'docs/use/b.md', 'x.png']);
const faults = (text: string) => linkFaults(new Map([['docs/a.md', text]]), targets);

t.test('a link, a picture and a named page that do not exist are named', async (t) => {
  t.strictSame(faults('[b](use/b.md) [web](https://a.example/x.md) ![x](../x.png) [docs](../docs/) docs/a.md'), []);
  t.match(faults('\n[c](c.md)'), ['docs/a.md:2 links to c.md, which does not exist']);
  t.match(faults('See docs/operate/c.md.'), ['docs/a.md names docs/operate/c.md, which does not exist']);
  t.strictSame(faults('```sh\nsvc kb rm docs/old.md\n[x](y.md)\n```'), [], 'what stands in an example is no link');
});

t.test('a link to a heading needs that heading', async (t) => {
  const text = '[x](#put-it-behind-nginx-or-haproxy) [y](#svc-key) \n## Put it behind nginx, or HAProxy!\n';
  t.match(faults(text), ['docs/a.md:1 links to #svc-key, which docs/a.md does not have']);
});

t.test('a page that no link leads to is named', async (t) => {
  const documents = new Map([
    ['docs/README.md', '[a](a.md)'],
    ['docs/a.md', '[b](use/b.md)'],
    ['docs/use/b.md', ''],
    ['docs/use/alone.md', ''],
    ['ts/web/README.md', ''],
    ['models/card.md', ''],
  ]);
  t.strictSame(unreachedPages(documents), [
    'docs/use/alone.md is not reached from docs/README.md',
    'ts/web/README.md is not reached from docs/README.md',
  ]);
});

const block = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;
const first = [
  ...['sudo apt-get install ./svc_1.deb', 'npm start', 'curl http://a/v1/chat/completions', 'svc key create a'],
  ...['svc kb add docs', 'svc edge config nginx'],
].map(block);

t.test('what a stranger looks for is two clicks away', async (t) => {
  const walk = (...path: string[]) => walkFaults(new Map([['README.md', `${first.join('')}[next](1.md)`], ...path.map(page)]));
  const page = (text: string, i: number): [string, string] => [`${i + 1}.md`, `${text}\n[next](${i + 2}.md)`];
  t.strictSame(walk('', block('svc backup create')), []);
  t.match(
    walk('', '', block('svc backup create')),
    [/^a backup: no page within 2 clicks of README\.md shows/],
    'three are too many',
  );
  t.match(walk('Run svc backup create.'), [/^a backup/], 'a sentence cannot be tried');
});

t.test('a module without a page, and a table that its page leaves out, are named', async (t) => {
  const source = "await schema.tenantTable('ferries', {}); await schema.table(\n  'ferry_berths', {});";
  t.match(moduleFaults('x/ferries', undefined, source), ['x/ferries has no README.md']);
  t.match(moduleFaults('x/ferries', 'Tables: `ferries`.', source), ['x/ferries/README.md does not name the table ferry_berths']);
  t.strictSame(moduleFaults('x/ferries', 'Tables: `ferries`, `ferry_berths`.', source), []);
});
