import t from 'tap';
import { Contract } from './contract.ts';

const contract = new Contract({
  paths: { '/a': { post: { responses: { 200: {}, 400: { description: 'invalid_request: a member is wrong' } } } } },
});
const answer = { method: 'POST', path: '/a', status: 400, body: '{"error":"invalid_request","detail":"x"}' };

t.test('a documented refusal is fine, flat or nested', async (t) => {
  t.equal(contract.findFault(answer), undefined);
  t.equal(contract.findFault({ ...answer, body: '{"error":{"code":"invalid_request"}}' }), undefined);
});

t.test('what is not documented is named', async (t) => {
  t.match(contract.findFault({ ...answer, body: '{"error":"surprise"}' }), /surprise/);
  t.match(contract.findFault({ ...answer, body: '<html>' }), /without an error code/);
  t.match(contract.findFault({ ...answer, status: 500 }), /500 .* not documented/);
  t.match(contract.findFault({ ...answer, status: 204 }), /204/);
});
