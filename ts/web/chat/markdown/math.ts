/**
 * Formulas in markdown: `$x$` and `\(x\)` in a line, `$$x$$` and `\[x\]` as blocks of their own. They become code that math-view.ts draws
 * once it is whole; a dollar sign of a price begins none.
 */
import type MarkdownIt from 'markdown-it';

type Parser = InstanceType<typeof MarkdownIt>;

type BlockRule = Parameters<Parser['block']['ruler']['before']>[2];
type InlineRule = Parameters<Parser['inline']['ruler']['before']>[2];

/** A longer text between two signs is no formula, and would take long to look through. */
const MAX_INLINE = 2_000;
const BLOCKS = { $$: '$$', '\\[': '\\]' } as const;

const block: BlockRule = (state, startLine, endLine, silent) => {
  const lineAt = (line: number): string =>
    state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line] ?? 0);
  const first = lineAt(startLine).trim();
  const opening = first.slice(0, 2) as keyof typeof BLOCKS;
  const closing = BLOCKS[opening];
  if (closing === undefined) return false;
  const rest = first.slice(2);
  const closesAt = rest.indexOf(closing);
  // Text goes on behind it: then it stands in the line.
  if (closesAt >= 0 && rest.slice(closesAt + 2).trim() !== '') return false;
  if (silent) return true;
  const lines: string[] = [];
  let line = startLine + 1;
  if (closesAt >= 0) lines.push(rest.slice(0, closesAt));
  else {
    lines.push(rest);
    // One that is still being written goes to the end, as open code does.
    for (; line < endLine; line++) {
      const text = lineAt(line);
      const end = text.indexOf(closing);
      lines.push(end < 0 ? text : text.slice(0, end));
      if (end < 0) continue;
      line++;
      break;
    }
  }
  const token = state.push('math_block', 'p', 0);
  token.content = lines.join('\n').trim();
  token.map = [startLine, line];
  state.line = line;
  return true;
};

/** What ends it, and where its text begins and ends; undefined where none begins. */
function inlineAt(text: string, at: number): { start: number; end: number; closing: string } | undefined {
  const pair = text.slice(at, at + 2);
  const closing = pair === '\\(' ? '\\)' : pair === '\\[' ? '\\]' : pair === '$$' ? '$$' : text[at] === '$' ? '$' : undefined;
  if (closing === undefined) return undefined;
  const start = at + closing.length;
  const length = lengthBefore(text.slice(start, start + MAX_INLINE), closing);
  if (length === undefined) return undefined;
  const end = start + length;
  if (closing !== '$') return { start, end, closing };
  // Pandoc reads it so: no space inside, and no digit behind.
  const isPrice = /\s/.test(text[start] ?? ' ') || /\s/.test(text[end - 1] ?? ' ') || /\d/.test(text[end + 1] ?? '');
  return isPrice ? undefined : { start, end, closing };
}

/** Characters before what closes; undefined where nothing does, or there are none. */
function lengthBefore(text: string, closing: string): number | undefined {
  let end = text.indexOf(closing);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf(closing, end + 1);
  return end > 0 ? end : undefined;
}

function isEscaped(text: string, at: number): boolean {
  let n = 0;
  while (text[at - 1 - n] === '\\') n++;
  return n % 2 === 1;
}

const inline: InlineRule = (state, silent) => {
  const found = inlineAt(state.src, state.pos);
  if (found === undefined || found.end > state.posMax) return false;
  if (!silent) {
    const token = state.push('math_inline', 'code', 0);
    token.content = state.src.slice(found.start, found.end);
    token.markup = found.closing;
  }
  state.pos = found.end + found.closing.length;
  return true;
};

export function addMath(parser: Parser): void {
  parser.block.ruler.before('fence', 'math_block', block, { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
  parser.inline.ruler.before('escape', 'math_inline', inline);
  const { escapeHtml } = parser.utils;
  parser.renderer.rules['math_block'] = (tokens, index) =>
    `<p class="math-block"><code class="math display">${escapeHtml(tokens[index]?.content ?? '')}</code></p>\n`;
  parser.renderer.rules['math_inline'] = (tokens, index) => {
    const { content = '', markup } = tokens[index] ?? {};
    const kind = markup === '$$' || markup === '\\]' ? 'math display' : 'math';
    return `<code class="${kind}">${escapeHtml(content)}</code>`;
  };
}
