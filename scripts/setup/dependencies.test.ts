import t from 'tap';
import { adviceFor, matches } from './dependencies.mjs';

const wanted = {
  '': {},
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/node-win': { version: '22.0.0', integrity: 'sha512-w', optional: true },
};
const installed = { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' } };

t.test('optional packages of other platforms may be absent', async (t) => {
  t.ok(matches(wanted, installed));
});

t.test('a package that is absent, older or different is noticed', async (t) => {
  t.notOk(matches(wanted, {}));
  t.notOk(matches(wanted, { 'node_modules/a': { version: '0.9.0', integrity: 'sha512-a' } }));
  t.notOk(matches(wanted, { 'node_modules/a': { version: '1.0.0', integrity: 'sha512-b' } }));
});

t.test('packages beyond the lock do no harm', async (t) => {
  t.ok(matches(wanted, { ...installed, 'node_modules/mine': { version: '1.0.0' } }));
});

t.test('a failure to reach the registry says what to do', async (t) => {
  t.match(adviceFor('npm error code EAI_AGAIN\nnpm error syscall getaddrinfo'), /registry.*\n.*npm config set registry/);
  t.equal(adviceFor('npm error code EACCES\nnpm error syscall mkdir'), undefined);
});
