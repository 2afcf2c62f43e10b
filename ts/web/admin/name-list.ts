/** Names that a reader types with commas or lines between them. */
export function namesIn(text: string): string[] {
  return [...new Set(text.split(/[,\n]/).map((name) => name.trim()))].filter((name) => name !== '');
}
