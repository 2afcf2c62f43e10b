/** Does something and says what went wrong. True: it was done. */
import { showToast } from '../design/toasts.tsx';
import { explain } from '../session/explain.ts';

export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work();
    if (done !== undefined) showToast(done);
    return true;
  } catch (error) {
    showToast(explain(error));
    return false;
  }
}
