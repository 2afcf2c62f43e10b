/** Markdown as the pages read it: no HTML of the author's, links that say where they lead, pictures only as links. */
import MarkdownIt from 'markdown-it';
import { ALLOWED_ADDRESS, ALLOWED_PICTURE } from './allowed.ts';
import { addMath } from './math.ts';

export const parser = new MarkdownIt('default', { html: false, linkify: true, breaks: false });
export type Token = ReturnType<typeof parser.parse>[number];

addMath(parser);
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
parser.validateLink = (url) => ALLOWED_ADDRESS.test(url) || ALLOWED_PICTURE.test(url);

parser.renderer.rules['image'] = (tokens, index, options, env, self) => {
  const token = tokens[index] as Token;
  const source = String(token.attrGet('src') ?? '');
  const text = self.renderInlineAsText(token.children ?? [], options, env);
  const { escapeHtml } = parser.utils;
  if (ALLOWED_PICTURE.test(source)) return `<img src="${escapeHtml(source)}" alt="${escapeHtml(text)}">`;
  return `<a class="picture-link" href="${escapeHtml(source)}">${escapeHtml(text === '' ? source : text)}</a>`;
};

// The default writes style attributes, which the pages' policy ignores.
for (const rule of ['th_open', 'td_open']) {
  parser.renderer.rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index] as Token;
    const align = /text-align:(\w+)/.exec(String(token.attrGet('style') ?? ''))?.[1];
    token.attrs = align === undefined ? null : [['class', `align-${align}`]];
    return self.renderToken(tokens, index, options);
  };
}
