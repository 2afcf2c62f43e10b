/** A sample of `npm run matrix`: each role once and each kind of credential once, over half of the routes each. */
import t from 'tap';
import { KINDS, ROLES } from './matrix/credentials.ts';
import { runMatrix } from './matrix/matrix.ts';

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
