import t from 'tap';
import { allRows, firstPages, type PageQuery } from './list-pages.ts';

const numbers = Array.from({ length: 7 }, (_, index) => index);

/** As the routes answer: from behind `after` on, and `next` while there is more. */
async function page({ limit, after }: PageQuery) {
  const from = after === undefined ? 0 : Number(after) + 1;
  const data = numbers.slice(from, from + limit);
  const last = data.at(-1) ?? 0;
  return { data, next: last < 6 ? String(last) : null };
}

t.test('so many pages are read, and whether there is more is known', async (t) => {
  t.strictSame(await firstPages(page, 1, 3), { rows: [0, 1, 2], hasMore: true });
  t.strictSame(await firstPages(page, 2, 3), { rows: [0, 1, 2, 3, 4, 5], hasMore: true });
  t.strictSame(await firstPages(page, 3, 3), { rows: numbers, hasMore: false });
});

t.test('the whole list is read to its last page', async (t) => {
  t.strictSame(await allRows(page, 2), numbers);
  t.strictSame(await allRows(async () => ({ data: [] })), []);
});
