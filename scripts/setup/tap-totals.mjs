/**
 * Assertions that passed, failed and were skipped, from the totals that tap writes at the end of its output; a run that broke
 * off before that counts as one failure.
 * @param {string} tap
 */
export function readTapTotals(tap) {
  const line = tap.split('\n').findLast((text) => text.startsWith('# {'));
  if (!line) return { passed: 0, failed: 1, skipped: 0 };
  const count = (/** @type {string} */ name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0);
  return { passed: count('pass'), failed: count('fail'), skipped: count('skip') };
}
