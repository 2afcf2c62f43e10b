import t from 'tap';
import { latestLeaf, pathTo, siblingsOf, type TreeMessage } from './thread-tree.ts';

const tree = (...rows: [id: string, parent: string | null][]): Map<string, TreeMessage> =>
  new Map(rows.map(([id, parent_id], index) => [id, { id, parent_id, seq: index + 1 }]));

const messages = tree(['q1', null], ['a1', 'q1'], ['a2', 'q1'], ['q2', 'a2'], ['a3', 'q2'], ['q3', null]);

t.test('a path leads from the first message to the leaf', async (t) => {
  t.strictSame(
    pathTo(messages, 'a3').map(({ id }) => id),
    ['q1', 'a2', 'q2', 'a3'],
  );
  t.strictSame(pathTo(messages, undefined), []);
  t.strictSame(pathTo(messages, 'unknown'), []);
});

t.test('a cycle ends the path', async (t) => {
  t.equal(pathTo(tree(['a', 'b'], ['b', 'a']), 'a').length, 2);
  t.ok(['a', 'b'].includes(latestLeaf(tree(['a', 'b'], ['b', 'a']), 'a')));
});

t.test('siblings share a parent, in the order of writing', async (t) => {
  const of = (id: string) => siblingsOf(messages, messages.get(id) as TreeMessage).map((message) => message.id);
  t.strictSame([of('a2'), of('q3'), of('q2')], [['a1', 'a2'], ['q1', 'q3'], ['q2']]);
});

t.test('below a message the branch that was written last is shown', async (t) => {
  t.strictSame(
    ['q1', 'a1', 'q3'].map((id) => latestLeaf(messages, id)),
    ['a3', 'a1', 'q3'],
  );
});
