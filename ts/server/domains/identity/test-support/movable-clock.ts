/** For tests: a clock of this process that goes on without waiting for it. */
import type { Test } from 'tap';

/** Moves what `Date.now()` says on, until the test ends. To be called before what reads the time is made. */
export function movableClock(t: Test): (ms: number) => void {
  const realNow = Date.now;
  let aheadMs = 0;
  Date.now = () => realNow() + aheadMs;
  t.teardown(() => {
    Date.now = realNow;
  });
  return (ms) => {
    aheadMs += ms;
  };
}
