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
  t.match(contract.findFault({ ...answer, status: 429 }), /429 .* not documented/);
  t.match(contract.findFault({ ...answer, status: 204 }), /204/);
});

t.test('a fault of the server is one, documented or not, and who is busy says for how long', async (t) => {
  const responses = { 500: {}, 503: { description: 'busy' } };
  const busy = new Contract({ paths: { '/a': { post: { responses } } } });
  t.match(busy.findFault({ ...answer, status: 500 }), /500 is a fault/);
  const refused = { ...answer, status: 503, body: '{"error":"busy"}' };
  t.match(busy.findFault(refused), /without Retry-After/);
  t.equal(busy.findFault({ ...refused, retryAfter: '1' }), undefined);
});
