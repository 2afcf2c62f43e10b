/** Tasks of the worker pool: what is learned of routes is learned, put into a memory file, and read. */
import { existsSync } from 'node:fs';
import { MemoryFileFault } from '../server/domains/memory/files/directory.ts';
import { readMemoryFile, writeMemoryFile } from '../server/domains/memory/files/memory-file.ts';
import { type LearnedRoutes, readRouteSection, routeSection } from '../server/domains/memory/router/learned-routes.ts';
import { type LearnedRouting, learnRouting, type RoutedConversation } from '../server/domains/memory/router/route-network.ts';

/** Each kind of route has its own. */
export type LearnedKinds = Readonly<Partial<Record<'knowledge' | 'model', LearnedRoutes>>>;

export type RouteTask =
  | {
      readonly kind: 'learn';
      readonly conversations: readonly RoutedConversation[];
      readonly seed: number;
      readonly maxSeconds: number;
    }
  | { readonly kind: 'write'; readonly path: string; readonly learned: LearnedKinds; readonly created: number }
  | { readonly kind: 'read'; readonly path: string };

type RouteReply =
  | { readonly kind: 'learned'; readonly routing: LearnedRouting | undefined }
  | { readonly kind: 'written' }
  | { readonly kind: 'read'; readonly learned: LearnedKinds }
  | { readonly kind: 'fault'; readonly detail: string };

const KINDS = ['knowledge', 'model'] as const;

export function run(task: RouteTask): RouteReply {
  if (task.kind === 'learn') {
    const endsAt = performance.now() + task.maxSeconds * 1000;
    return { kind: 'learned', routing: learnRouting(task.conversations, { seed: task.seed, endsAt }) };
  }
  try {
    const sections = existsSync(task.path) ? readMemoryFile(task.path) : [];
    if (task.kind === 'read') {
      const found = sections.flatMap(({ kind, name, bytes }) => {
        const learned = kind === 'router' && KINDS.some((each) => each === name) ? readRouteSection(bytes) : undefined;
        return learned === undefined ? [] : [[name, learned]];
      });
      return { kind: 'read', learned: Object.fromEntries(found) as LearnedKinds };
    }
    const { learned, path, created } = task;
    const made = KINDS.flatMap((kind) => (learned[kind] === undefined ? [] : [routeSection(kind, learned[kind])]));
    writeMemoryFile(path, [...sections.filter(({ kind }) => kind !== 'router'), ...made], created);
    return { kind: 'written' };
  } catch (error) {
    if (error instanceof MemoryFileFault) return { kind: 'fault', detail: error.message };
    throw error;
  }
}
