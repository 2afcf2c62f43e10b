/** What a screen shows: fetched when it opens, again when asked, and on its own where it changes by itself. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  data: T | undefined;
  error: unknown;
  reload(): Promise<void>;
}

/** `everyMs`: repeated while the page is seen. The latest answer counts. */
export function useData<T>(load: () => Promise<T>, inputs: readonly unknown[] = [], everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ data: T | undefined; error: unknown }>({ data: undefined, error: undefined });
  const last = useRef(0);
  const reload = useCallback(async () => {
    last.current++;
    const own = last.current;
    try {
      const data = await load();
      if (own === last.current) setState({ data, error: undefined });
    } catch (error) {
      if (own === last.current) setState(({ data }) => ({ data, error }));
    }
  }, inputs);
  useEffect(() => {
    void reload();
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, everyMs);
    return () => {
      clearInterval(timer);
      last.current++;
    };
  }, [reload, everyMs]);
  return { ...state, reload };
}
