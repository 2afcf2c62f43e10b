/** Which kind of text a file is. Its content decides; the name only tells apart kinds that look alike. */
import type { DocumentKind } from '../extracted-document.ts';
import { findSeparator } from './csv.ts';
import { parseJson } from './json.ts';

export type TextKind = Extract<DocumentKind, 'text' | 'markdown' | 'html' | 'json' | 'yaml' | 'csv' | 'sql' | 'code' | 'email'>;

const byExtension: Readonly<Record<string, TextKind>> = {
  ...spread('markdown', 'md markdown mdown mkd mdx'),
  ...spread('yaml', 'yaml yml'),
  ...spread('csv', 'csv tsv tab'),
  ...spread('sql', 'sql ddl'),
  ...spread(
    'code',
    'js mjs cjs ts mts cts jsx tsx py rb php pl lua go rs c h cc cpp cxx hpp hh cs java kt kts scala swift m mm dart r jl hs ml ex exs erl ' +
      'clj lisp el vb fs pas f f90 asm s sh bash zsh fish ps1 psm1 bat cmd awk sed vue svelte css scss less proto thrift graphql gql tf hcl ' +
      'toml ini cfg conf properties env gradle cmake mk dockerfile makefile diff patch xml xsd xsl svg rss plist tex bib log',
  ),
};

function spread(kind: TextKind, extensions: string): Record<string, TextKind> {
  return Object.fromEntries(extensions.split(' ').map((extension) => [extension, kind]));
}

/** @param name of the file, where one is known. */
export function textKindOf(text: string, name: string | undefined): TextKind {
  const start = text.slice(0, 4096).trimStart();
  if (isHtml(start)) return 'html';
  if (isEmail(start)) return 'email';
  if (/^[[{]/.test(start) && parseJson(text) !== undefined) return 'json';
  const named = byExtension[extensionOf(name)];
  if (named !== undefined) return named;
  return looksLike(start, text);
}

function extensionOf(name: string | undefined): string {
  const base = name?.split(/[/\\]/).at(-1)?.toLowerCase() ?? '';
  return base.includes('.') ? (base.split('.').at(-1) ?? '') : base;
}

function isHtml(start: string): boolean {
  const declared = start.replace(/^<\?xml[^>]{0,200}\?>\s*/, '');
  return /^<(?:!doctype\s+html|html|head|body|table|div|p|h[1-6]|article|section)\b/i.test(behindComments(declared));
}

/** By a loop: an expression that may part comments in several ways takes a time that doubles with each of them. */
function behindComments(text: string): string {
  let at = 0;
  while (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 4);
    if (end < 0) return '';
    at = end + 3;
    while (/\s/.test(text[at] ?? '')) at += 1;
  }
  return text.slice(at);
}

/** Several fields that only messages begin with, each on its line (RFC 5322 section 2.2). */
function isEmail(start: string): boolean {
  const names = new Set<string>();
  for (const line of start.split(/\r?\n/).slice(0, 40)) {
    const name = /^([A-Za-z][A-Za-z0-9-]{1,60}):/.exec(line)?.[1];
    if (name !== undefined) names.add(name.toLowerCase());
    else if (!/^[ \t]/.test(line)) break;
  }
  const nTyping = ['from', 'to', 'subject', 'date', 'message-id', 'mime-version', 'received', 'return-path', 'content-type'];
  return names.has('from') && nTyping.filter((name) => names.has(name)).length >= 3;
}

function looksLike(start: string, text: string): TextKind {
  if (/^#!.*\b(?:sh|bash|zsh|python3?|node|perl|ruby)\b/.test(start)) return 'code';
  if (/^<\?xml\b|^<svg\b|^<[a-z][\w:-]*(?:\s[^>]*)?>/i.test(start)) return 'code';
  if (/^---\r?\n[\w-]+:/.test(start) || isKeyedLines(start)) return 'yaml';
  if (/^#{1,3} \S|\n#{1,3} \S|\n```/.test(start)) return 'markdown';
  if (/^(?:--.*\n|\s)*(?:create\s+table|insert\s+into|select\s[\s\S]{1,500}?\sfrom)\s/i.test(start)) return 'sql';
  return findSeparator(text) !== undefined && start.split('\n').length > 2 && !/[.!?]\s/.test(start.slice(0, 300))
    ? 'csv'
    : 'text';
}

/** Most lines are a key and its value, or an indented one. */
function isKeyedLines(start: string): boolean {
  const lines = start
    .split('\n')
    .slice(0, 30)
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const keyed = lines.filter((line) => /^\s*(?:- )?[\w-]{1,40}:(?:\s|$)/.test(line) || /^\s+- \S/.test(line));
  return lines.length >= 3 && keyed.length === lines.length;
}
