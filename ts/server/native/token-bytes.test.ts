import t from 'tap';
import { TokenBytes } from './step-reader.ts';

const text = (token: number): Buffer => Buffer.from(`token ${token}`);

t.test('a token has one buffer, with its own bytes', (t) => {
  const tokens = new TokenBytes();
  const first = tokens.of(7, text(7));
  for (let token = 0; token < TokenBytes.mostTokens; token++) tokens.of(token, text(token));
  t.equal(tokens.of(7, text(7)), first);
  t.equal(first.toString(), 'token 7');
  t.equal(tokens.of(7, Buffer.alloc(0)).length, 0, 'a special token without its text');
  t.equal(tokens.of(7, text(7)), first);
  t.equal(tokens.of(-1, Buffer.alloc(100_000, 'x')).toString(), 'x'.repeat(100_000), 'longer than a block');
  t.end();
});

t.test('what is kept is bounded, in few blocks of memory', (t) => {
  const tokens = new TokenBytes();
  const kept = Array.from({ length: TokenBytes.mostTokens }, (_, token) => tokens.of(token, text(token)));
  const blocks = new Set(kept.map(({ buffer }) => buffer));
  t.ok(blocks.size <= 4, `${blocks.size} blocks`);
  t.equal(tokens.of(0, text(0)), kept[0]);
  tokens.of(TokenBytes.mostTokens, text(TokenBytes.mostTokens));
  t.not(tokens.of(0, text(0)), kept[0], 'one more, and all are forgotten');
  t.equal(kept[5]?.toString(), 'token 5', 'whoever has it still reads it');
  t.end();
});
