/** The passage that the reader opened. */
import { signal } from '@preact/signals';
import type { Citation } from '../thread/message.ts';

export const shownCitation = signal<Citation | undefined>(undefined);

export function showCitation(citation: Citation): void {
  shownCitation.value = citation;
}
