/** A part of a page that is fetched when it is first shown. */
import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { explain } from '../session/explain.ts';
import { showToast } from './toasts.tsx';

export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<P> {
  let loaded: FunctionComponent<P> | undefined;
  return function Lazy(props: P) {
    const [Part, setPart] = useState<FunctionComponent<P> | undefined>(() => loaded);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (part) => {
          loaded = part;
          setPart(() => part);
        },
        (error: unknown) => showToast(explain(error)),
      );
    }, []);
    return Part === undefined ? null : <Part {...props} />;
  };
}
