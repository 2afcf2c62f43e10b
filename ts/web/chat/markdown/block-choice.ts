/** The block of code that the reader wants to see drawn or run. */
import { signal } from '@preact/signals';

export interface CodeBlock {
  language: string;
  text: string;
}

const DRAWABLE = ['html', 'svg', 'mermaid', 'javascript', 'js'];

export const shownBlock = signal<CodeBlock | undefined>(undefined);

export function isDrawable(language: string): boolean {
  return DRAWABLE.includes(language.toLowerCase());
}

export function showBlock(block: CodeBlock): void {
  shownBlock.value = block;
}
