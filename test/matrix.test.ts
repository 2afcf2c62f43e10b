/** A sample of `npm run matrix`: each role once and each kind of credential once, over half of the routes each. */
import t from 'tap';
import { KINDS, ROLES } from './matrix/credentials.ts';
import { runLimited } from './matrix/limited.ts';
import { runMatrix } from './matrix/matrix.ts';
import { stateFault } from './matrix/state-fault.ts';
import { iterations } from './test-support/iterations.ts';

t.setTimeout(300_000);

t.test('no route gives an undocumented answer, shows a foreign byte, or tells a foreign id from an unknown one', async (t) => {
  const { nRoutes, nPassed, faults } = await runMatrix({
    folder: t.testdir(),
    includes: (role, kind) => ROLES.indexOf(role) === KINDS.indexOf(kind),
    states: ['good', 'revoked'],
    stride: 2,
  });
  t.strictSame(faults, []);
  t.ok(nPassed > nRoutes * 4, `${nPassed} answers of ${nRoutes} routes`);
});

const isLong = iterations(1, 2) > 1;
t.test('a member that sends all on answers as its controller does', { skip: !isLong && 'in long runs' }, async (t) => {
  const { nPassed, faults } = await runMatrix({
    folder: t.testdir(),
    includes: (role, kind) => ROLES.indexOf(role) === KINDS.indexOf(kind),
    states: ['good', 'revoked'],
    stride: 6,
    isMember: true,
  });
  t.strictSame(faults, []);
  t.ok(nPassed > 400, `${nPassed} answers`);
});

t.test(
  'whatever limits a caller to some knowledge bases or models, what is of others is answered like what nobody has',
  async (t) => {
    const { nRoutes, nPassed, faults } = await runLimited(t.testdir());
    t.strictSame(faults, []);
    t.ok(nRoutes > 50 && nPassed > nRoutes * 5, `${nPassed} answers of ${nRoutes} routes`);
  },
);

t.test('a session that ended and still opens a guarded route by its cookie is a fault', async (t) => {
  const asked = { kind: 'cookie', state: 'revoked', isSignIn: false } as const;
  const ok = { status: 200, text: '{}' };
  t.match(stateFault({ ...asked, needsCredential: true }, ok), /answers 200 to a cookie that was revoked/);
  t.equal(stateFault({ ...asked, needsCredential: false }, ok), undefined, 'an open route answers whoever comes');
  t.equal(stateFault({ ...asked, needsCredential: true }, { status: 401, text: '{}' }), undefined);
});
