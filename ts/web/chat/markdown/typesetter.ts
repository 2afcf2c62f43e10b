/** KaTeX, which makes elements and no HTML. Formulas that link, load or style by themselves are refused: `trust` is off. */
import katex from 'katex';
import 'katex/dist/katex.min.css';

/** Undefined: it is no formula that can be read. */
export function typeset(text: string, isDisplay: boolean): HTMLElement | undefined {
  const element = document.createElement('span');
  element.className = isDisplay ? 'formula display' : 'formula';
  try {
    katex.render(text, element, {
      displayMode: isDisplay,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxExpand: 200,
      maxSize: 20,
    });
    return element;
  } catch {
    return undefined;
  }
}
