import fc from 'fast-check';
import t from 'tap';
import { priorities, type TaskPriority, TaskQueue } from './task-queue.ts';

const pushes = fc.array(fc.record({ priority: fc.constantFrom(...priorities), isRemoved: fc.boolean() }));

t.test('tasks leave by priority, then in the order in which they came, and removed ones never', (t) => {
  fc.assert(
    fc.property(pushes, (all) => {
      const queue = new TaskQueue<{ priority: TaskPriority; isRemoved: boolean }>();
      for (const task of all) queue.push(task, task.priority);
      for (const task of all) if (task.isRemoved) queue.remove(task);
      const kept = all.filter(({ isRemoved }) => !isRemoved);
      const expected = priorities.flatMap((priority) => kept.filter((task) => task.priority === priority));
      const left = kept.map(() => queue.shift());
      return left.every((task, i) => task === expected[i]) && queue.size === 0 && queue.shift() === undefined;
    }),
  );
  t.end();
});

t.test('what does not wait cannot be removed', (t) => {
  const queue = new TaskQueue<object>();
  t.equal(queue.remove({}), false);
  t.end();
});
