/** Waiting tasks by priority; within one priority the first come is the first served. */

export const priorities = ['high', 'normal', 'low'] as const;
export type TaskPriority = (typeof priorities)[number];

export class TaskQueue<Task> {
  /** A Set keeps the order of insertion and removes from its middle in O(1). */
  readonly #waiting: Record<TaskPriority, Set<Task>> = { high: new Set(), normal: new Set(), low: new Set() };

  get size(): number {
    return priorities.reduce((sum, priority) => sum + this.#waiting[priority].size, 0);
  }

  push(task: Task, priority: TaskPriority): void {
    this.#waiting[priority].add(task);
  }

  shift(): Task | undefined {
    for (const priority of priorities) {
      const [first] = this.#waiting[priority];
      if (first === undefined) continue;
      this.#waiting[priority].delete(first);
      return first;
    }
    return undefined;
  }

  /** False when the task does not wait. */
  remove(task: Task): boolean {
    return priorities.some((priority) => this.#waiting[priority].delete(task));
  }
}
