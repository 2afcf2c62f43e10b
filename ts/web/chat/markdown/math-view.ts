/** Draws formulas. The typesetter is fetched with the first one. What it cannot read stays as it was written. */

const MAX_LENGTH = 5_000;

export async function drawMath(code: HTMLElement): Promise<void> {
  const text = code.textContent ?? '';
  if (text.trim() === '' || text.length > MAX_LENGTH) return;
  const { typeset } = await import('./typesetter.ts');
  const drawn = typeset(text, code.classList.contains('display'));
  if (drawn !== undefined && code.textContent === text) code.replaceWith(drawn);
}
