/** The rows of a long list: its first page, and more when the reader asks. */
import { useState } from 'preact/hooks';
import { firstPages, type LoadPage } from '../../client/list-pages.ts';
import { useData } from '../api/use-data.ts';

interface LoadedRows<Row> {
  /** Undefined until the first page has come. */
  rows: readonly Row[] | undefined;
  error: unknown;
  reload(): Promise<void>;
  /** Undefined where there is no more. */
  more: (() => void) | undefined;
}

interface Options {
  inputs?: readonly unknown[];
  everyMs?: number;
  /** All pages, for a search through them. */
  isWhole?: boolean;
  limit?: number;
}

const PAGE = 100;

export function useRows<Row>(load: LoadPage<Row>, options: Options = {}): LoadedRows<Row> {
  const { inputs = [], everyMs, isWhole = false, limit = isWhole ? 1000 : PAGE } = options;
  const [nPages, setPages] = useState(1);
  const read = () => firstPages(load, isWhole ? Number.POSITIVE_INFINITY : nPages, limit);
  // What was shown before stays until more has come.
  const { data, error, reload } = useData(read, [...inputs, nPages, isWhole], everyMs);
  const more = data?.hasMore ? () => setPages((count) => count + 1) : undefined;
  return { rows: data?.rows, error, reload, more };
}
