/** Sends a form once at a time and keeps what the server said against it. */
import { useState } from 'preact/hooks';
import type { Refusal } from '../../client/refusal.ts';
import { explain } from '../session/explain.ts';

interface Submit {
  isBusy: boolean;
  /** The failure of the last try. */
  wrong: string | undefined;
  code: string | undefined;
  onSubmit(event: Event): void;
}

export function useSubmit(send: () => Promise<void>): Submit {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    send()
      .catch(setFailure)
      .finally(() => setBusy(false));
  };
  const wrong = failure === undefined ? undefined : explain(failure);
  return { isBusy, wrong, code: (failure as Refusal | undefined)?.code, onSubmit };
}
