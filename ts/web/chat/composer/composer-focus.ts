/** Puts the cursor where a question is written. */
export function focusComposer(): void {
  document.getElementById('composer')?.focus();
}
