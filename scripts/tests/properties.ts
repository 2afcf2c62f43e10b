/** Loaded before a test file with properties: each runs for a time at most, from the seed of the run, which `npm test` prints. */
import fc from 'fast-check';

const limitMs = process.env['SVC_TEST_LONG'] === '1' ? 30_000 : 5_000;

fc.configureGlobal({
  seed: Number(process.env['SVC_TEST_SEED']),
  interruptAfterTimeLimit: limitMs,
  // What was tried until then has passed.
  markInterruptAsFailure: false,
});
