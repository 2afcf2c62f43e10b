/** `npm run check`: every check, one line each; the output of those that fail. */
import type { Outcome } from './check.ts';
import { checks } from './checks.ts';

let nPassed = 0;
let nFailed = 0;
for (const { name, remedy, run } of checks) {
  const startedAt = performance.now();
  const outcome = await run().catch((error: unknown): Outcome => ({ status: 'failed', output: String(error) }));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  if (outcome.status === 'passed') {
    nPassed++;
    console.log(`ok       ${name} (${outcome.note ? `${outcome.note}, ` : ''}${seconds} s)`);
  } else if (outcome.status === 'skipped') {
    console.log(`skipped  ${name}: ${outcome.reason}`);
  } else {
    nFailed++;
    console.log(`FAILED   ${name}\n${outcome.output}\n         remedy: ${remedy}`);
  }
}
console.log(`${nPassed} passed, ${nFailed} failed`);
process.exitCode = nFailed === 0 ? 0 : 1;
