/** Colours of code. The grammars are fetched with the first block that has a language. */
import { clean } from './clean.ts';

const MAX_LENGTH = 50_000;

export async function highlight(code: HTMLElement): Promise<void> {
  const language = code.dataset['language'] ?? '';
  const text = code.textContent ?? '';
  if (language === '' || text.length > MAX_LENGTH) return;
  const { colour } = await import('./grammars.ts');
  const html = colour(text, language);
  if (html !== undefined && code.textContent === text) code.replaceChildren(clean(html));
}
