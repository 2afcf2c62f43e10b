import fc from 'fast-check';
import t from 'tap';
import { readTexts } from './schema-check.ts';

const schema = {
  properties: {
    count: { type: 'integer' },
    share: { type: 'number' },
    flag: { type: 'boolean' },
    ids: { type: 'array', items: { type: 'integer' } },
    text: { type: 'string' },
  },
};

t.test('texts that are numbers and booleans become them, and nothing else does', async (t) => {
  const read = (name: string, value: unknown) => readTexts(schema, { [name]: value })[name];
  t.strictSame([read('count', '12'), read('count', '-3'), read('share', '0.5'), read('flag', 'true')], [12, -3, 0.5, true]);
  t.strictSame(read('ids', ['1', 'x']), [1, 'x']);
  for (const text of ['0.5', '1e3', ' 1', '', '0x10', '+1', '1_0', '9'.repeat(16)]) t.equal(read('count', text), text);
  t.strictSame(
    [read('flag', 'constructor'), read('constructor', '1')],
    ['constructor', '1'],
    'names of every object are none of ours',
  );
  t.strictSame([read('flag', 'yes'), read('text', '1'), read('unknown', '1')], ['yes', '1', '1']);
});

t.test('an integer is read as the number that its text is', async () => {
  fc.assert(fc.property(fc.integer(), (value) => readTexts(schema, { count: String(value) })['count'] === value));
});
