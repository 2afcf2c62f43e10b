/** Checks the documents: how long they are, how they begin, where their links lead, and that a reader finds each of them. */
import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

/** Texts by their path from the root. */
type Documents = ReadonlyMap<string, string>;

/** The most lines of a page, by the first pattern that its path matches. */
const LIMITS: readonly (readonly [pattern: string, nLines: number])[] = [
  ['README.md', 192],
  ['ARCHITECTURE.md', 220],
  ['CHANGELOG.md', 1_000],
  ['docs/README.md', 60],
  ['docs/{install,operate,use,admin}/*.md', 120],
  ['{ts,native,packaging}/**/README.md', 60],
];
const GUIDES = 'docs/{install,operate,use,admin}/*.md';
const GENERATED = 'docs/reference/*.md';
/** An example or a picture stands at the top of a guide, behind its title and a few sentences. */
const EXAMPLE_WITHIN = 12;
const MAX_WIDTH = 160;

/** Words that a reader stumbles over, with what to write. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\b(is|are|be|being) told of\b/i, 'is reported'],
  [/\bwho has it\b/i, 'whoever owns it'],
  [/\bstands there\b/i, 'is'],
  [/\banew\b/i, 'again'],
];

/** A stranger's way: what is looked for, and the command that shows it was found. Two links from README.md lead there. */
const WALK: readonly (readonly [goal: string, command: RegExp])[] = [
  ['install a package', /apt-get install \.\/svc_/],
  ['start a checkout', /^npm start$/m],
  ['the first answer', /curl .*\/v1\/chat\/completions/],
  ['a key', /svc key create/],
  ['a document', /svc kb add/],
  ['a proxy', /svc edge config/],
  ['a backup', /svc backup create/],
];
const MAX_CLICKS = 2;

interface DocumentReport {
  nPages: number;
  problems: string[];
}

/** @param root absolute path of a tree laid out like this repository. */
export function checkDocuments(root: string): DocumentReport {
  const paths = globSync(['*.md', '{docs,bench,models,native,packaging,ts}/**/*.md'], { cwd: root }).sort();
  const documents = new Map(paths.map((path) => [path, readFileSync(posix.join(root, path), 'utf8')]));
  const targets = new Set([
    ...paths,
    ...globSync('**/*', { cwd: root, exclude: (name) => name === 'node_modules' || name === 'build' }),
  ]);
  const modules = globSync('ts/server/domains/*', { cwd: root });
  const sourceOf = (folder: string) =>
    globSync(`${folder}/**/!(*.test|*.contract).ts`, { cwd: root })
      .map((path) => readFileSync(posix.join(root, path), 'utf8'))
      .join('\n');
  const problems = [
    ...[...documents].flatMap(([path, text]) => [
      ...limitFaults(path, text),
      ...exampleFaults(path, text),
      ...phraseFaults(path, text),
    ]),
    ...linkFaults(documents, targets),
    ...unreachedPages(documents),
    ...walkFaults(documents),
    ...modules.flatMap((folder) => moduleFaults(folder, documents.get(`${folder}/README.md`), sourceOf(folder))),
  ];
  return { nPages: documents.size, problems };
}

export function limitFaults(path: string, text: string): string[] {
  const limit = LIMITS.find(([pattern]) => posix.matchesGlob(path, pattern))?.[1];
  if (limit === undefined) return [];
  const lines = text.trimEnd().split('\n');
  const long = lines.length > limit ? [`${path} has ${lines.length} lines, at most ${limit} are read`] : [];
  const wide = lines.flatMap((line, i) =>
    line.length > MAX_WIDTH && !line.startsWith('|')
      ? [`${path}:${i + 1} has ${line.length} characters, at most ${MAX_WIDTH}`]
      : [],
  );
  return [...long, ...wide];
}

export function exampleFaults(path: string, text: string): string[] {
  if (!posix.matchesGlob(path, GUIDES)) return [];
  const top = text.split('\n').slice(0, EXAMPLE_WITHIN);
  const heading = top.findIndex((line) => line.startsWith('## '));
  const example = top.findIndex((line) => line.startsWith('```') || line.includes('!['));
  const isFirst = example >= 0 && (heading < 0 || example < heading);
  return isFirst ? [] : [`${path} begins without an example in its first ${EXAMPLE_WITHIN} lines`];
}

export function phraseFaults(path: string, text: string): string[] {
  if (!isPlainEnglish(path)) return [];
  return text.split('\n').flatMap((line, i) =>
    PHRASES.flatMap(([phrase, instead]) => {
      const found = phrase.exec(line)?.[0];
      return found === undefined ? [] : [`${path}:${i + 1} has "${found}", write: ${instead}`];
    }),
  );
}

/** Generated pages have the words of the code; what is under a limit is written for readers. */
function isPlainEnglish(path: string): boolean {
  return LIMITS.some(([pattern]) => posix.matchesGlob(path, pattern)) || path === 'SECURITY.md' || path === 'CONTRIBUTING.md';
}

interface Link {
  /** As it is written, without the heading. */
  target: string;
  heading: string | undefined;
  line: number;
}

const LINK = /\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g;
/** A page that is named in a sentence, as a remedy of the code does. */
const NAMED_PAGE = /(?<![\w/.(])docs\/[\w/-]+\.md/g;

function linksOf(text: string): Link[] {
  const outside = text.replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  return outside.split('\n').flatMap((row, i) => {
    const links = [...row.matchAll(LINK)].map(([, target = '', heading]) => ({ target, heading, line: i + 1 }));
    return links.filter(({ target }) => !/^[a-z]+:/.test(target));
  });
}

/** Where a link leads, from the root. */
const resolve = (from: string, target: string) => (target === '' ? from : posix.join(posix.dirname(from), target));

/** @param targets every file and folder that may be linked to. */
export function linkFaults(documents: Documents, targets: ReadonlySet<string>): string[] {
  return [...documents].flatMap(([path, text]) => {
    const broken = linksOf(text).flatMap(({ target, heading, line }) => {
      const to = resolve(path, target);
      if (!targets.has(to.replace(/\/$/, ''))) return [`${path}:${line} links to ${target}, which does not exist`];
      const page = documents.get(to);
      if (heading === undefined || page === undefined || headingsOf(page).has(heading)) return [];
      return [`${path}:${line} links to #${heading}, which ${to} does not have`];
    });
    const outside = text.replaceAll(/^```[\s\S]*?^```/gm, '');
    const named = [...outside.matchAll(NAMED_PAGE)].filter(([name]) => !targets.has(name));
    return [...broken, ...named.map(([name]) => `${path} names ${name}, which does not exist`)];
  });
}

/** The anchors of a page's headings, as GitHub makes them. */
function headingsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.*)$/gm);
  return new Set([...headings].map(([, words = '']) => anchorOf(words)));
}

function anchorOf(heading: string): string {
  const letters = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '');
  return letters.trim().replaceAll(' ', '-');
}

/** Clicks from a page to each page that links lead to. */
function clicksFrom(start: string, documents: Documents): Map<string, number> {
  const clicks = new Map([[start, 0]]);
  for (const [path, n] of clicks)
    for (const { target } of linksOf(documents.get(path) ?? '')) {
      const to = resolve(path, target);
      // A map yields what is added while it is walked.
      if (documents.has(to) && !clicks.has(to)) clicks.set(to, n + 1);
    }
  return clicks;
}

export function unreachedPages(documents: Documents): string[] {
  const reached = clicksFrom('docs/README.md', documents);
  const pages = [...documents.keys()].filter((path) => isPlainEnglish(path) || path.startsWith('docs/'));
  return pages.filter((path) => !reached.has(path)).map((path) => `${path} is not reached from docs/README.md`);
}

export function walkFaults(documents: Documents): string[] {
  const clicks = clicksFrom('README.md', documents);
  return WALK.flatMap(([goal, command]) => {
    const found = [...clicks].some(
      ([path, n]) => n <= MAX_CLICKS && !posix.matchesGlob(path, GENERATED) && hasCommand(documents.get(path) ?? '', command),
    );
    return found ? [] : [`${goal}: no page within ${MAX_CLICKS} clicks of README.md shows ${command}`];
  });
}

/** Whether a block of code holds it: what is only spoken of cannot be tried. */
function hasCommand(text: string, command: RegExp): boolean {
  return [...text.matchAll(/^ *```[\s\S]*?^ *```/gm)].some(([block]) => command.test(block));
}

/** A module has a page, which names each of its tables. */
export function moduleFaults(folder: string, page: string | undefined, source: string): string[] {
  if (page === undefined) return [`${folder} has no README.md`];
  const tables = [...source.matchAll(/\.(?:tenantTable|table)\(\s*'([a-z_]+)'/g)].map(([, name = '']) => name);
  return tables
    .filter((name) => !page.includes(`\`${name}\``))
    .map((name) => `${folder}/README.md does not name the table ${name}`);
}
