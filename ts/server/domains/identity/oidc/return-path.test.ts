import fc from 'fast-check';
import t from 'tap';
import { returnPath } from './return-path.ts';

const HERE = 'https://svc.example';
/** What tricks are made of. */
const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '\\',
    '.',
    '..',
    '/./',
    '@',
    ':',
    '?',
    '#',
    '%2f',
    '%5c',
    '\t',
    '\n',
    '\r',
    ' ',
    '\0',
    '\u00a0',
    '／',
    '。',
    'evil.example',
    'https:',
    'javascript:',
  ),
  fc.string({ maxLength: 4 }),
);

t.test('whatever is given, the browser stays on this server', async (t) => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = returnPath(pieces.join(''));
      if (path === undefined) return true;
      const reached = new URL(path, `${HERE}/api/v1/auth/oidc/callback`);
      return reached.origin === HERE && path.startsWith('/') && !/^\/[/\\]/.test(path) && !/[\r\n\0]/.test(path);
    }),
    { numRuns: 20_000 },
  );
  t.pass('20,000 texts');
});

t.test('plain paths are taken as they are', async (t) => {
  for (const path of ['/', '/chat', '/admin/users?page=2#top', '/a%20b', '/chat?next=https://x']) t.equal(returnPath(path), path);
  t.equal(returnPath('/a/../b'), '/b');
  t.equal(returnPath(`/${'a'.repeat(2000)}`), undefined);
});
