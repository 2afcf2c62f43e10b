/** Rows and columns; the first column names the row. It scrolls sideways by itself where the window is narrow. */
import type { ComponentChildren } from 'preact';
import { t } from '../i18n/language.ts';
import { Button } from './button.tsx';

export interface Column<Row> {
  head: string;
  /** `long`: the widest one, of whole sentences. `number`: to the end of the cell. `actions`: as narrow as its buttons; the head is for screen readers. */
  kind?: 'text' | 'long' | 'number' | 'actions';
  cell(row: Row): ComponentChildren;
}

interface TableProps<Row> {
  /** What the table holds, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string;
  /** Shows further rows; undefined where these are all. */
  more?: (() => void) | undefined;
}

export function Table<Row>({ label, columns, rows, keyOf, more }: TableProps<Row>) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="table-frame" aria-label={label} tabIndex={0}>
        <table class="table">
          <thead>
            <tr>
              {columns.map(({ head, kind = 'text' }) => (
                <th scope="col" key={head} class={kind}>
                  {kind === 'actions' ? <span class="unseen">{head}</span> : head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ head, kind = 'text', cell }, index) =>
                  index === 0 ? (
                    <th scope="row" key={head}>
                      {cell(row)}
                    </th>
                  ) : (
                    <td key={head} class={kind}>
                      {cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {more !== undefined && (
        <div class="table-more">
          <Button look="plain" onClick={more}>
            {t('more')}
          </Button>
          <span class="small quiet">{t('rows_shown', { count: rows.length })}</span>
        </div>
      )}
    </>
  );
}
