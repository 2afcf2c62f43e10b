/** Whether it is known who is asking and which models there are. A question that is sent before goes out then. */
import { signal } from '@preact/signals';

export const isStarted = signal(false);

/** At once, or when it is known. */
export function whenStarted(run: () => void): void {
  if (isStarted.value) {
    run();
    return;
  }
  const stop = isStarted.subscribe((isKnown) => {
    if (!isKnown) return;
    stop();
    run();
  });
}
