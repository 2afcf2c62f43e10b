/** Runs test files one after the other; what is dear to start and can be shared, they share. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';
import type { ChildServer } from '../../test/child-server.ts';
import { runStockServer, SHARED_SERVER } from '../../test/server.ts';
import { chromiumOptions, SHARED_BROWSER } from '../../test/test-support/chromium.ts';
import { PostgresCluster, SHARED_CLUSTER } from '../../ts/server/platform/storage/test-support/postgres-cluster.ts';
import { bundledProgram } from './bundle-step.ts';
import { browserFile } from './chosen-files.ts';
import type { ImportGraph } from './import-graph.ts';
import { databaseOf } from './test-files.ts';

const clusterFile = 'ts/server/platform/storage/test-support/postgres-cluster.ts';

export class Worker {
  readonly #graph: ImportGraph;
  #cluster: PostgresCluster | undefined;
  #browser: BrowserServer | undefined;
  #server: ChildServer | undefined;
  #folder: string | undefined;

  constructor(graph: ImportGraph) {
    this.#graph = graph;
    process.on('exit', () => this.#server?.running && process.kill(this.#server.pid, 'SIGKILL'));
  }

  /** The variables by which the files find what is shared; started for the first that needs it. */
  async variablesFor(files: readonly string[]): Promise<NodeJS.ProcessEnv> {
    const needed = new Set(files.flatMap((file) => [...this.#graph.closure(file)]));
    try {
      const hasPostgres = files.some((file) => databaseOf(file) !== 'sqlite' && this.#graph.closure(file).has(clusterFile));
      if (hasPostgres && !PostgresCluster.missing()) this.#cluster ??= await PostgresCluster.startOwn();
      if (needed.has(browserFile) && chromiumOptions) await this.#startBrowser(chromiumOptions);
      if (files.some((file) => this.#graph.source(file).includes('stockServer('))) await this.#startServer();
    } catch (error) {
      // The files start their own then, and fail where they cannot.
      console.error(`Not shared: ${(error as Error).message}`);
    }
    return {
      ...(this.#cluster && { [SHARED_CLUSTER]: this.#cluster.folder }),
      ...(this.#browser && { [SHARED_BROWSER]: this.#browser.wsEndpoint() }),
      ...(this.#server && { [SHARED_SERVER]: this.#server.url }),
    };
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.#cluster?.remove();
    await this.#stopServer();
  }

  /** What a test brought down is replaced, as the server is. */
  async #startBrowser(options: LaunchOptions): Promise<void> {
    if (this.#browser) return;
    this.#browser = await chromium.launchServer(options);
    this.#browser.once('close', () => {
      this.#browser = undefined;
    });
  }

  async #startServer(): Promise<void> {
    if (this.#server?.running) return;
    await this.#stopServer();
    this.#folder = mkdtempSync(join(tmpdir(), 'svc-stock-'));
    this.#server = await runStockServer(this.#folder, bundledProgram);
  }

  async #stopServer(): Promise<void> {
    await this.#server?.stop();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
