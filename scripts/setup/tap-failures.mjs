/**
 * What failed, for people: each failed assertion with its diagnosis, below it the tests and the file that failed with it.
 * @param {string} tap whole output of a run
 */
export function readTapFailures(tap) {
  /** @type {string[]} */
  const shown = [];
  let inDiagnosis = false;
  let wasFailure = false;
  for (const line of tap.split('\n')) {
    const text = line.trim();
    if (inDiagnosis) {
      shown.push(line);
      inDiagnosis = text !== '...';
    } else if (wasFailure && text === '---') {
      shown.push(line);
      inDiagnosis = true;
    } else {
      wasFailure = /^not ok\b/.test(text) && !/# (SKIP|TODO)/i.test(text);
      if (wasFailure) shown.push(line);
    }
  }
  return shown.join('\n');
}

/**
 * The test files that failed, in the order in which they ended; none where the run broke off, and others would be missing.
 * @param {string} tap whole output of a run
 */
export function readFailedFiles(tap) {
  if (!/^# \{/m.test(tap)) return [];
  const names = tap.split('\n').map((line) => /^not ok \d+ - (\S+\.test\.ts)\b/.exec(line)?.[1] ?? '');
  return [...new Set(names.filter(Boolean))];
}
