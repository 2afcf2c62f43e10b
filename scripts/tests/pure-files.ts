/** Cheap test files that a process can run one after the other, since they change nothing that the next one sees. */
import type { Budgets } from './budgets.ts';
import type { ImportGraph } from './import-graph.ts';

/** What the whole process has one of, and what tap has one of for the file that was started; a database server of its own keeps the process alive. */
const ofTheProcess =
  /\bprocess\.(env\[[^\]]*\] ?=|env\.\w+ ?=|chdir|exit|exitCode|on|once|emit|umask|cpuUsage|memoryUsage)\b|delete process|\bglobalThis\.|\bgc\(|mockImport|mockRequire|intercept|cpuMsOf|PostgresCluster|^t\.(?!test\(|ok\(|equal\(|setTimeout\()|^(?:const|let|await) .*(?:\bt\.|\(t[,)])/m;
/** What a test of the process itself, or of what it loads, imports. */
const started = /from 'node:(child_process|worker_threads|cluster|vm|inspector|v8|async_hooks|diagnostics_channel)'/;

/** Longer ones would keep the others waiting. */
const longestSeconds = 2;

export function isPure(file: string, graph: ImportGraph, budgets: Budgets): boolean {
  if ((budgets.costOf(file)?.wallSeconds ?? Number.MAX_VALUE) > longestSeconds) return false;
  return !file.startsWith('native/') && !ofTheProcess.test(graph.source(file)) && !started.test(graph.source(file));
}
