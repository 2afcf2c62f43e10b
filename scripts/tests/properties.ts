/** Loaded before a test file with properties: each runs for a time at most, from the seed of the run, which `npm test` prints. */
import fc from 'fast-check';

const limitMs = process.env['SVC_TEST_LONG'] === '1' ? 30_000 : 5_000;

// What was tried until then has passed.
fc.configureGlobal({ seed: Number(process.env['SVC_TEST_SEED']), markInterruptAsFailure: false });

// fast-check's own limit leaves a run that is under way, whose assertions then come after the end of their test: here it ends first.
fc.installGlobalPlugin(() => {
  const endsAt = performance.now() + limitMs;
  return {
    decorateRun: (run) => (value) => (performance.now() < endsAt ? run(value) : new fc.PreconditionFailure(true)),
  };
});
