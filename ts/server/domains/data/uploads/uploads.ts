/** Wires uploads for the module that takes the files: its routes, and what runs beside them. Nothing is opened before start(). */
import { join } from 'node:path';
import type { RemovalHold } from '../../../platform/files/removal-hold.ts';
import type { ErrorSpec } from '../../../platform/http/errors.ts';
import type { Route } from '../../../platform/http/route.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Storage } from '../../../platform/storage/index.ts';
import { BlobStore } from '../blobs/blob-store.ts';
import { FileIntake } from '../files/file-intake.ts';
import { FileStore } from '../files/file-store.ts';
import { ChunkedUploads } from './chunked-uploads.ts';
import { type FreeBytes, freeBytesOf } from './disk-error.ts';
import { FileHasher } from './file-hasher.ts';
import { UploadStore } from './store/upload-store.ts';
import { UploadSweepStore } from './store/upload-sweep-store.ts';
import { tusRoutes } from './tus/tus-routes.ts';
import { TusUploads } from './tus/tus-uploads.ts';
import { UploadCompletion } from './upload-completion.ts';
import { UploadFiles } from './upload-files.ts';
import { type UploadRoutesOptions, uploadRoutes } from './upload-routes.ts';
import { type UploadLimits, UploadService } from './upload-service.ts';
import { UploadSweep, type UsedBlobs } from './upload-sweep.ts';
import type { UploadTarget } from './upload-target.ts';

export interface UploadsOptions {
  storage: Storage;
  dataDir: string;
  log: Log;
  limits: UploadLimits;
  target: UploadTarget;
  /** What the target's refusals are answered with. */
  targetErrors?: readonly ErrorSpec[];
  outcomes?: UploadRoutesOptions['outcomes'];
  /** Whether nodes of one PostgreSQL have each other's files. */
  areFilesShared?: boolean;
  /** Without it, files that no document needs stay. */
  usedBlobs?: UsedBlobs;
  /** What a backup reads is removed after it. */
  removals?: RemovalHold;
  /** For tests. */
  now?: () => number;
  freeBytes?: FreeBytes;
  chunkBytes?: number;
}

export interface Uploads {
  readonly routes: readonly Route[];
  readonly service: UploadService;
  readonly store: UploadStore;
  readonly chunked: ChunkedUploads;
  /** Files that are complete, by the hash of their content. */
  readonly blobs: BlobStore;
  /** Files that come in one request. */
  readonly intake: FileIntake;
  readonly sweep: UploadSweep;
  start(): void;
  stop(): Promise<void>;
}

export function createUploads(options: UploadsOptions): Uploads {
  const { storage, dataDir, log, limits, target, targetErrors = [], outcomes, usedBlobs, chunkBytes } = options;
  const { now = Date.now, freeBytes = freeBytesOf, areFilesShared = true, removals } = options;
  const { expiryMs } = limits;
  const store = new UploadStore(storage);
  const files = new UploadFiles(join(dataDir, 'uploads'), freeBytes);
  const blobs = new BlobStore(storage, join(dataDir, 'blobs'), areFilesShared, removals);
  const hasher = new FileHasher();
  const completion = new UploadCompletion({ store, files, blobs, hasher, target, now });
  const service = new UploadService({
    store,
    files,
    completion,
    target,
    limits,
    now,
    ...(chunkBytes === undefined ? {} : { chunkBytes }),
  });
  const chunked = new ChunkedUploads({ service, store, files, expiryMs, now });
  const tus = new TusUploads({ service, store, files, expiryMs, now });
  const sweep = new UploadSweep({ store: new UploadSweepStore(storage), service, files, blobs, usedBlobs, now, log });
  return {
    routes: [
      ...uploadRoutes({ service, chunked, targetErrors, ...(outcomes === undefined ? {} : { outcomes }) }),
      ...tusRoutes({ service, tus, targetErrors }),
    ],
    service,
    store,
    chunked,
    blobs,
    intake: new FileIntake({ files: new FileStore(storage), uploads: store, uploadFiles: files, blobs, limits, now }),
    sweep,
    start: () => sweep.start(),
    stop: async () => {
      await sweep.stop();
      await hasher.close();
    },
  };
}
