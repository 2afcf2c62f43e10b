/** Wires files. Nothing is opened before start(). */
import { join } from 'node:path';
import type { RemovalHold } from '../../platform/files/removal-hold.ts';
import type { Route } from '../../platform/http/route.ts';
import type { Log } from '../../platform/log/log.ts';
import type { Belongings } from '../../platform/module/belongings.ts';
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import type { Storage } from '../../platform/storage/index.ts';
import { BlobStore } from './blobs/blob-store.ts';
import { Extractor, type ExtractorOptions } from './reading/extractor.ts';
import { FileReader } from './reading/file-reader.ts';
import { extractorOptions, type filesSettings, uploadLimits } from './settings.ts';
import { FileIntake } from './stored/file-intake.ts';
import { FileStore } from './stored/file-store.ts';
import { ChunkedUploads } from './uploads/chunked-uploads.ts';
import { type FreeBytes, freeBytesOf } from './uploads/disk-error.ts';
import { type InspectMedia, MediaTarget } from './uploads/media-target.ts';
import { UploadStore } from './uploads/store/upload-store.ts';
import { UploadSweepStore } from './uploads/store/upload-sweep-store.ts';
import { tusRoutes } from './uploads/tus/tus-routes.ts';
import { TusUploads } from './uploads/tus/tus-uploads.ts';
import type { UploadTarget } from './uploads/upload.ts';
import { FileHasher, UploadCompletion } from './uploads/upload-completion.ts';
import { UploadFiles } from './uploads/upload-files.ts';
import { type UploadAnswers, uploadCorsHeaders, uploadRoutes } from './uploads/upload-routes.ts';
import { type UploadLimits, UploadService } from './uploads/upload-service.ts';
import { UploadSweep, type UsedBlobs } from './uploads/upload-sweep.ts';

export interface FilesApi {
  /** Files by the hash of their content. */
  readonly blobs: BlobStore;
  /** Files that were stored for good, or until they expire. */
  readonly stored: FileStore;
  /** Files that come in one request. */
  readonly intake: FileIntake;
  /** Text of files. */
  readonly reader: FileReader;
  readonly uploads: Pick<UploadStore, 'sizeOfOpen'>;
  /** The routes of uploads that can be continued. The target gets the files; there is one, named when its module is made. */
  serveUploads(target: UploadTarget, answers: UploadAnswers): Route[];
  /** Whoever tells what a recording or film is; uploads of them are refused while it has nothing. */
  connectMedia(inspection: () => InspectMedia | undefined): void;
  /** A module that keeps blobs says which, when it is made: those that nothing needs are removed. */
  addBlobUser(used: UsedBlobs): void;
  /** Removes those of the blobs that nothing needs any more. */
  release(tenant: string, hashes: readonly string[]): Promise<void>;
}

export interface FilesOptions {
  readonly storage: Storage;
  readonly dataDir: string;
  readonly log: Log;
  readonly limits: UploadLimits;
  readonly extraction: ExtractorOptions;
  /** Whether nodes of one PostgreSQL have each other's files. */
  readonly areFilesShared?: boolean;
  /** What a backup reads is removed after it. */
  readonly removals?: RemovalHold;
  /** For tests. */
  readonly now?: () => number;
  readonly freeBytes?: FreeBytes;
  readonly chunkBytes?: number;
}

/** The parts of the module, which its tests call by themselves. */
export interface Files extends FilesApi {
  readonly service: UploadService;
  readonly chunked: ChunkedUploads;
  readonly sweep: UploadSweep;
  readonly belongings: Belongings;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function wireFiles(options: FilesOptions): Files {
  const { storage, dataDir, log, limits, extraction, areFilesShared = true, removals, chunkBytes } = options;
  const { now = Date.now, freeBytes = freeBytesOf } = options;
  const { expiryMs } = limits;
  const store = new UploadStore(storage);
  const files = new UploadFiles(join(dataDir, 'uploads'), freeBytes);
  const blobs = new BlobStore(storage, join(dataDir, 'blobs'), areFilesShared, removals);
  const stored = new FileStore(storage);
  const hasher = new FileHasher();
  let served: UploadTarget | undefined;
  let inspection: () => InspectMedia | undefined = () => undefined;
  const target = (): UploadTarget => {
    if (served === undefined) throw new Error('no module takes uploaded files');
    return new MediaTarget({ files: stored, inspect: inspection(), now, others: served });
  };
  const completion = new UploadCompletion({ store, files, blobs, hasher, target, now });
  const service = new UploadService({ store, files, completion, target, limits, now, chunkBytes });
  const chunked = new ChunkedUploads({ service, store, files, expiryMs, now });
  const tus = new TusUploads({ service, store, files, expiryMs, now });
  const usedByFiles: UsedBlobs = (scope, hashes) => stored.listUsedHashes(scope, hashes);
  const sweep = new UploadSweep({ store: new UploadSweepStore(storage), service, files, blobs, usedByFiles, now, log });
  const reader = new FileReader({
    newExtractor: () => new Extractor({ ...extraction, log }),
    open: (scope, sha256) => blobs.open(scope, sha256),
  });
  return {
    blobs,
    stored,
    intake: new FileIntake({ files: stored, uploads: store, uploadFiles: files, blobs, limits, now }),
    reader,
    uploads: store,
    service,
    chunked,
    sweep,
    serveUploads: (given, answers) => {
      served = given;
      return [...uploadRoutes({ service, chunked, answers }), ...tusRoutes({ service, tus, answers })];
    },
    connectMedia: (connected) => {
      inspection = connected;
    },
    addBlobUser: (used) => sweep.addBlobUser(used),
    release: (tenant, hashes) => sweep.release(tenant, hashes, Date.now()),
    belongings: {
      holdsAny: async (scope) => (await stored.list(scope, { limit: 1, order: 'asc' }, Date.now())).length > 0,
      eraseTenant: async (scope) => {
        await stored.removeAll(scope);
        await sweep.eraseTenant(scope);
      },
    },
    start: async () => sweep.start(),
    stop: async () => {
      await sweep.stop();
      await hasher.close();
      await reader.close();
    },
  };
}

export function createFiles({ settings, storage, node, log }: ModuleContext<typeof filesSettings>): Module<FilesApi> {
  const files = wireFiles({
    storage,
    dataDir: node.dataDir,
    log,
    limits: uploadLimits(settings),
    extraction: extractorOptions(settings),
    areFilesShared: settings['data.shared_files'],
    removals: node.removals,
  });
  return {
    api: files,
    routes: [],
    corsHeaders: uploadCorsHeaders,
    belongings: files.belongings,
    start: files.start,
    stop: files.stop,
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}
