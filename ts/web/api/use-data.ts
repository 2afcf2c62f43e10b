/** What a screen shows: fetched when it opens, again when asked, and on its own where it changes by itself. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  reload(): Promise<void>;
}

/** `everyMs`: repeated while the page is seen, unless the last answer is still to come. The latest answer counts. */
export function useData<T>(load: () => Promise<T>, inputs: readonly unknown[] = [], everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown }>({ data: undefined, error: undefined });
  const last = useRef(0);
  const isPending = useRef(false);
  const reload = useCallback(async () => {
    last.current++;
    const own = last.current;
    isPending.current = true;
    try {
      const data = await load();
      if (own === last.current) setState({ data, error: undefined });
    } catch (error) {
      if (own === last.current) setState(({ data }) => ({ data, error }));
    } finally {
      if (own === last.current) isPending.current = false;
    }
  }, inputs);
  useEffect(() => {
    void reload();
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      // Each request makes the answers of earlier ones stale: where answers take longer than the interval, none would ever be shown.
      if (!document.hidden && !isPending.current) void reload();
    }, everyMs);
    return () => {
      clearInterval(timer);
      last.current++;
    };
  }, [reload, everyMs]);
  return { ...state, reload };
}
