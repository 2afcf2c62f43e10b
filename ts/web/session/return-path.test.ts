import t from 'tap';
import { returnPath } from './return-path.ts';

const origin = 'https://svc.example';
const to = (next: string): string => returnPath(`?next=${encodeURIComponent(next)}`, origin);

t.test('sign-in leads back to the page that asked for it', async (t) => {
  t.equal(to('/admin#users'), '/admin#users');
  t.equal(to('https://svc.example/chat#c=1'), '/chat#c=1');
  t.equal(returnPath('', origin), '/chat');
});

t.test('an address of elsewhere, or of no page, leads to the chat', async (t) => {
  const hostile = [
    'https://evil.example/chat',
    '//evil.example/chat',
    '\\\\evil.example/chat',
    'javascript:alert(1)',
    '/api/v1/auth/login',
    '/chat/../x',
  ];
  for (const next of hostile) t.equal(to(next), '/chat', next);
});
