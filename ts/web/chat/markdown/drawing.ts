/** What the renderer of markdown gives, as one file that is fetched behind the first drawing of the page. */
export { GrowingMarkdown } from './growing-markdown.ts';
export { drawMarkdown } from './whole-markdown.ts';
