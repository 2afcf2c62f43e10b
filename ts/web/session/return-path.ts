/** Where the sign-in form leads to: one of the own pages, whatever the address says. */
const PAGES = ['/chat', '/admin'];

export function returnPath(search: string, origin: string): string {
  const next = new URLSearchParams(search).get('next') ?? '';
  const url = URL.canParse(next, origin) ? new URL(next, origin) : undefined;
  const isOwn = url !== undefined && url.origin === origin && PAGES.includes(url.pathname);
  return isOwn ? url.pathname + url.hash : '/chat';
}
