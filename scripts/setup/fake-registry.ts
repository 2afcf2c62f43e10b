import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** An npm registry on 127.0.0.1 that serves one package, for the tests of what fetches from the real one. */
export class FakeRegistry {
  readonly integrity: string;
  readonly #server: Server;

  private constructor(server: Server, integrity: string) {
    this.#server = server;
    this.integrity = integrity;
  }

  static async start(name: string, files: Record<string, string>): Promise<FakeRegistry> {
    const tarball = pack(name, files);
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const server = createServer((request, response) => {
      const base = `http://${request.headers.host}`;
      if (request.url?.endsWith('.tgz')) return void response.end(tarball);
      const dist = { tarball: `${base}/${name}-1.0.0.tgz`, integrity };
      const version = { name, version: '1.0.0', dist };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    return new FakeRegistry(server, integrity);
  }

  /** An environment in which npm asks this registry and set-up uses a cache of its own. */
  environment(): NodeJS.ProcessEnv {
    const { port } = this.#server.address() as AddressInfo;
    const cache = mkdtempSync(join(tmpdir(), 'svc-cache-'));
    return {
      ...process.env,
      npm_config_registry: `http://127.0.0.1:${port}/`,
      npm_config_cache: join(cache, 'npm'),
      SVC_CACHE_DIR: cache,
    };
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function pack(name: string, files: Record<string, string>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'svc-package-'));
  const all = { 'package.json': JSON.stringify({ name, version: '1.0.0' }), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, 'package', path)), { recursive: true });
    writeFileSync(join(folder, 'package', path), text);
  }
  execFileSync('cmake', ['-E', 'tar', 'czf', 'package.tgz', 'package'], { cwd: folder });
  return readFileSync(join(folder, 'package.tgz'));
}
