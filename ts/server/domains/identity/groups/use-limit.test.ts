import fc from 'fast-check';
import t from 'tap';
import { ANONYMOUS, type Principal } from '../../../platform/http/principal.ts';
import { scriptedKinds } from '../../../platform/module/test-support/scripted-context.ts';
import { matchesAny } from '../../../platform/text/name-pattern.ts';
import { credentialLimits, LimitIntersection, type UseLimit } from './group-limits.ts';

const groups = (limit: UseLimit) => ({ limitOf: async () => limit });
const caller = (more: Partial<Principal> = {}): Principal => ({ ...ANONYMOUS, kind: 'key', ...more });

t.test('a name may be used when its groups and its credential allow it', async (t) => {
  const limits = new LimitIntersection(scriptedKinds, [groups({ models: ['a*'], namespaces: undefined }), credentialLimits]);
  const may = async (name: string, more: Partial<Principal> = {}) => (await limits.of(caller(more), 'models'))(name);
  t.equal(await may('ab'), true);
  t.equal(await may('b'), false);
  t.equal(await may('ab', { limits: { models: ['ab', 'b'] } }), true);
  t.equal(await may('ac', { limits: { models: ['ab', 'b'] } }), false, 'not for this credential');
  t.equal(await may('b', { limits: { models: ['ab', 'b'] } }), false, 'not for its account');
  t.equal((await limits.of(caller(), 'namespaces'))('any'), true);
  t.equal((await limits.of(caller({ limits: { namespaces: ['x'] } }), 'namespaces'))('y'), false);
  t.equal((await limits.of(caller({ limits: { namespaces: [] } }), 'namespaces'))('y'), false, 'an empty list allows nothing');
  t.throws(() => limits.of(caller(), 'namespace'), RangeError, 'a misspelt kind does not allow everything');
});

t.test('a star stands for any characters, and nothing else is special', async (t) => {
  const part = fc.string({ maxLength: 4 }).map((text) => text.replaceAll('*', ''));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.array(part, { maxLength: 5 }), (parts, fillings) => {
      const name = parts.map((text, i) => text + (i < parts.length - 1 ? (fillings[i] ?? '') : '')).join('');
      return matchesAny([parts.join('*')], name);
    }),
  );
  const table: [string, string, boolean][] = [
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['*ab*ba*', 'aba', false],
    ['a.c', 'abc', false],
    ['A', 'a', false],
    ['', '', true],
    ['a**b', 'ab', true],
  ];
  for (const [pattern, name, expected] of table) t.equal(matchesAny([pattern], name), expected, `${pattern} ${name}`);
  const before = process.cpuUsage();
  t.equal(matchesAny([`${'*a'.repeat(120)}b`], 'a'.repeat(256)), false);
  const { user, system } = process.cpuUsage(before);
  t.ok(user + system < 50_000, `${user + system} µs of the CPU`);
});
