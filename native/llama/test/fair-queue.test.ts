/** Whose turn it is, by a table of what comes and goes (fair_queue_test.cpp says how it is written), and against a plain list. */
import t from 'tap';
import { figuresOf, linesOf, noReferences } from './reference.ts';

const orderOf = async (words: string) => (await linesOf('fair-queue-test', ['order', ...words.split(' ')]))[0];

t.test('turns go by priority, by what tenants run, by what they were served, by arrival', { skip: noReferences() }, async (t) => {
  const table: [string, string, string][] = [
    ['an empty queue has nothing', 'pop', '-'],
    ['one tenant: in order of arrival', 'a:1 a:2 a:3 pop pop pop', '1 2 3'],
    ['a higher priority first', 'a:1 a:2*1 b:3*2 pop pop pop', '3 2 1'],
    ['tenants in turn, whoever has more', 'a:1 a:2 a:3 b:4 b:5 pop pop pop pop pop', '1 4 2 5 3'],
    ['one that comes behind a thousand waits for one', 'a:1 a:2 a:3 pop b:4 pop pop', '1 4 2'],
    ['by cost, not by number', 'a:1 a:2 b:3 b:4 b:5 pop=100 pop=10 pop=10 pop=10 pop=10', '1 3 4 5 2'],
    ['nobody saves up a burst', 'a:1 a:2 a:3 a:4 pop=10 pop=10 b:5 b:6 pop=10 pop=10 pop=10', '1 2 5 3 6'],
    ['a tenant that runs nothing goes first', 'a:1 b:2 run=a pop pop', '2 1'],
    ['until it does', 'a:1 b:2 run=a run=b end=a pop pop', '1 2'],
    ['a tenant may have to wait while others go', 'a:1 a:2 b:3 b:4 pop!a pop pop!a pop!a pop', '3 1 4 - 2'],
    ['what is taken out is gone', 'a:1 a:2 b:3 1- pop pop pop', '2 3 -'],
    ['so is a tenant that leaves', 'a:1 a:2 b:3 drop=a pop pop', '3 -'],
    ['and comes back', 'a:1 drop=a a:2 pop', '2'],
  ];
  for (const [situation, words, expected] of table) t.equal(await orderOf(words), expected, situation);
});

t.test('as a plain list that is looked through would say', { skip: noReferences() }, async (t) => {
  for (const seed of [1, 2, 3]) {
    const { operations } = await figuresOf('fair-queue-test', ['random', seed, 20_000]);
    t.equal(operations, 20_000);
  }
});
