/** Runs test files one after the other; what is dear to start and can be shared, they share. */
import { type BrowserServer, chromium } from 'playwright-core';
import { chromiumOptions, SHARED_BROWSER } from '../../test/test-support/chromium.ts';
import { PostgresCluster, SHARED_CLUSTER } from '../../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { browserFile } from './chosen-files.ts';
import type { ImportGraph } from './import-graph.ts';

const clusterFile = 'ts/server/platform/storage/test-support/postgres-cluster.ts';

export class Worker {
  readonly #graph: ImportGraph;
  #cluster: PostgresCluster | undefined;
  #browser: BrowserServer | undefined;

  constructor(graph: ImportGraph) {
    this.#graph = graph;
  }

  /** The variables by which the files find what is shared; started for the first that needs it. */
  async variablesFor(files: readonly string[]): Promise<NodeJS.ProcessEnv> {
    const needed = new Set(files.flatMap((file) => [...this.#graph.closure(file)]));
    if (needed.has(clusterFile) && !PostgresCluster.missing()) this.#cluster ??= await PostgresCluster.startOwn();
    if (needed.has(browserFile) && chromiumOptions) this.#browser ??= await chromium.launchServer(chromiumOptions);
    return {
      ...(this.#cluster && { [SHARED_CLUSTER]: this.#cluster.folder }),
      ...(this.#browser && { [SHARED_BROWSER]: this.#browser.wsEndpoint() }),
    };
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#cluster?.remove();
  }
}
