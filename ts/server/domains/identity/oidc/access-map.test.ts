import t from 'tap';
import { AccessMap } from './access-map.ts';

const map = AccessMap.parse(
  JSON.stringify({ red: 'red:viewer', 'red-admins': 'red:admin', 'cn=blue,ou=x': 'blue:developer', 'a:b': 'a:b:viewer' }),
  'default:viewer',
);

t.test('the first group of the map decides the tenant, and the highest role of that tenant counts', async (t) => {
  t.strictSame(map.ofNew(['cn=blue,ou=x', 'red-admins', 'red']), { tenant: 'red', role: 'admin' });
  t.strictSame(map.ofNew(['red']), { tenant: 'red', role: 'viewer' });
  t.strictSame(map.ofNew(['cn=blue,ou=x']), { tenant: 'blue', role: 'developer' });
  t.strictSame(map.ofNew(['a:b']), { tenant: 'a:b', role: 'viewer' }, 'ids of tenants may hold colons');
});

t.test('people without a group of the map have the default access, where there is one', async (t) => {
  t.strictSame(map.ofNew(['RED', 'other']), { tenant: 'default', role: 'viewer' }, 'names of groups are exact');
  t.equal(AccessMap.parse('', '').ofNew(['red']), undefined);
  t.equal(AccessMap.parse('{"red":"red:viewer"}', '').ofNew([]), undefined);
});

t.test('an account stays in its tenant', async (t) => {
  t.equal(map.roleIn('red', ['red', 'cn=blue,ou=x']), 'viewer');
  t.equal(map.roleIn('blue', ['red']), undefined);
  t.equal(map.roleIn('default', ['red']), 'viewer', 'the default access holds for accounts of its tenant');
});

t.test('names that objects have by themselves are groups like others', async (t) => {
  const strange = AccessMap.parse('{"__proto__":"red:admin","constructor":"blue:viewer"}', '');
  t.strictSame(strange.ofNew(['__proto__']), { tenant: 'red', role: 'admin' });
  t.equal(strange.ofNew(['toString']), undefined);
});
