import Type from 'typebox';
import { RawBody } from '../../../../platform/http/body/body-schema.ts';
import type { BodyStream } from '../../../../platform/http/body/body-stream.ts';
import type { ReplyHeaders } from '../../../../platform/http/reply/reply.ts';
import { type BytesReply, json, type RequestContext, type Route } from '../../../../platform/http/route.ts';
import { routes } from '../../../../platform/http/route-group.ts';
import { named } from '../../../../platform/schema/named.ts';
import { fileErrors, uploadError } from '../../errors.ts';
import { requireOwnTenant } from '../../uploader.ts';
import { checkFile } from '../given-file.ts';
import type { Upload } from '../upload.ts';
import type { UploadAnswers } from '../upload-routes.ts';
import type { UploadService } from '../upload-service.ts';
import { CHECKSUM_ALGORITHMS, readChecksum, readMetadata } from './tus-headers.ts';
import type { TusUploads } from './tus-uploads.ts';

interface TusRoutesOptions {
  service: UploadService;
  tus: TusUploads;
  answers: UploadAnswers;
}

const VERSION = '1.0.0';
const PATH = '/api/v1/upload/tus';
/** The limit of any request body; larger files take several requests. */
const MAX_REQUEST_BYTES = 128 * 1024 * 1024;
const OFFSET_STREAM = 'application/offset+octet-stream';

const params = Type.Object({ upload_id: Type.String({ minLength: 1, maxLength: 100 }) });
const State = named(
  'TusUpload',
  Type.Object({
    upload_id: Type.String(),
    filename: Type.String(),
    size: Type.Integer(),
    offset: Type.Integer(),
    expires_at: Type.String({ format: 'date-time' }),
    result: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'What came of the file, once it is complete.' }),
    ),
  }),
);
const Nothing = Type.Null();

const { get, post, patch, del } = routes({
  tag: 'Uploads',
  auth: 'developer',
  scope: 'knowledge:write',
  maxBody: MAX_REQUEST_BYTES,
  errors: fileErrors,
});

export function tusRoutes(options: TusRoutesOptions): Route[] {
  return [createRoute(options), stateRoute(options), appendRoute(options), terminateRoute(options)];
}

/** Answers to OPTIONS, which tell what the server can do (section "Options" of the protocol). */
function optionsHeaders(service: UploadService): ReplyHeaders {
  return {
    'tus-resumable': VERSION,
    'tus-version': VERSION,
    'tus-extension': 'creation,creation-with-upload,checksum,expiration,termination',
    'tus-max-size': String(service.maxFileBytes),
    'tus-checksum-algorithm': CHECKSUM_ALGORITHMS.join(','),
  };
}

function createRoute({ service, tus, answers }: TusRoutesOptions): Route {
  return post(PATH, {
    summary: 'Start an upload (tus 1.0.0)',
    description:
      'For any tus client. `Upload-Metadata` names `filename` and `namespace`, and optionally `source`, `tenant` and `sha256`. A request has 128 MB at most: ' +
      'set the chunk size of the client to less. The file is indexed when its last byte has come; GET then shows the result.',
    body: RawBody,
    bodyKind: 'bytes',
    optionsHeaders: optionsHeaders(service),
    responses: { 201: Nothing },
    errors: [
      'invalid_request',
      'forbidden',
      'tus_version_unsupported',
      'upload_too_large',
      'unsupported_media_type',

      'checksum_mismatch',
      'tus_checksum_mismatch',
      'upload_quota_exceeded',
      'too_many_uploads',
      'disk_full',
      'storage_unavailable',
      ...answers.errors,
    ],
    handle: async ({ caller, headers, body }) => {
      requireVersion(headers);
      const metadata = readMetadata(headers.get('upload-metadata'));
      requireOwnTenant(caller, metadata.get('tenant'));
      const file = checkFile('tus', {
        ...Object.fromEntries(metadata),
        purpose: undefined,
        size: readNumber('Upload-Length', headers),
      });
      const begun = await service.begin(caller, { ...file, metadata: headers.get('upload-metadata') });
      const upload = await appendFirst(tus, caller, headers, begun, body);
      return reply(201, { ...stateHeaders(upload), location: `${PATH}/${upload.id}` });
    },
  });
}

/** Creation with upload: the first bytes may come with the request. */
async function appendFirst(
  tus: TusUploads,
  caller: RequestContext['caller'],
  headers: ReadonlyMap<string, string>,
  upload: Upload,
  body: BodyStream,
): Promise<Upload> {
  if (headers.get('content-type') !== OFFSET_STREAM) {
    body.drop();
    return upload;
  }
  return await tus.append(caller, upload.id, 0, body, readChecksum(headers.get('upload-checksum')));
}

function stateRoute({ service, tus, answers }: TusRoutesOptions): Route {
  return get(`${PATH}/{upload_id}`, {
    summary: 'How much of an upload has arrived (tus HEAD), and what came of it',
    params,
    optionsHeaders: optionsHeaders(service),
    responses: { 200: State },
    errors: [
      'upload_not_found',
      'upload_busy',
      'upload_elsewhere',
      'checksum_mismatch',
      'disk_full',
      'storage_unavailable',
      ...answers.errors,
    ],
    handle: async ({ caller, params: { upload_id: id } }) => {
      const upload = await tus.look(caller, id);
      const metadata: ReplyHeaders = upload.metadata === undefined ? {} : { 'upload-metadata': upload.metadata };
      const headers = {
        ...stateHeaders(upload),
        ...metadata,
        'upload-length': String(upload.sizeBytes),
        'cache-control': 'no-store',
      };
      return json(200, toState(upload), headers);
    },
  });
}

function appendRoute({ tus, answers }: TusRoutesOptions): Route {
  return patch(`${PATH}/{upload_id}`, {
    summary: 'Continue an upload (tus 1.0.0)',
    description:
      'The bytes from `Upload-Offset` on. The offset of the answer is on disk. What has come when a connection is cut is kept.',
    params,
    body: RawBody,
    bodyKind: 'bytes',
    responses: { 204: Nothing },
    errors: [
      'invalid_request',
      'upload_not_found',
      'upload_offset_mismatch',
      'upload_busy',
      'upload_elsewhere',
      'tus_version_unsupported',

      'unsupported_media_type',
      'checksum_mismatch',
      'upload_locked',
      'tus_checksum_mismatch',
      'disk_full',
      'storage_unavailable',
      ...answers.errors,
    ],
    handle: async ({ caller, headers, params: { upload_id: id }, body }) => {
      requireVersion(headers);
      if (headers.get('content-type') !== OFFSET_STREAM)
        throw uploadError('unsupported_media_type', `Send Content-Type: ${OFFSET_STREAM}.`);
      const offset = readNumber('Upload-Offset', headers);
      const upload = await tus.append(caller, id, offset, body, readChecksum(headers.get('upload-checksum')));
      return reply(204, stateHeaders(upload));
    },
  });
}

function terminateRoute({ service }: TusRoutesOptions): Route {
  return del(`${PATH}/{upload_id}`, {
    summary: 'Cancel an upload (tus 1.0.0)',
    params,
    responses: { 204: Nothing },
    errors: ['upload_not_found', 'tus_version_unsupported', 'storage_unavailable'],
    handle: async ({ caller, headers, params: { upload_id: id } }) => {
      requireVersion(headers);
      await service.cancel(caller, id, 'tus');
      return reply(204, { 'tus-resumable': VERSION });
    },
  });
}

function reply(status: number, headers: ReplyHeaders): BytesReply {
  return { kind: 'bytes', status, headers, body: '' };
}

function stateHeaders({ offset, expiresAtMs }: Upload): Record<string, string> {
  return { 'tus-resumable': VERSION, 'upload-offset': String(offset), 'upload-expires': new Date(expiresAtMs).toUTCString() };
}

function toState({ id, fileName, sizeBytes, offset, expiresAtMs, outcome }: Upload) {
  const state = { upload_id: id, filename: fileName, size: sizeBytes, offset, expires_at: new Date(expiresAtMs).toISOString() };
  return outcome === undefined ? state : { ...state, result: outcome.body };
}

function requireVersion(headers: ReadonlyMap<string, string>): void {
  if (headers.get('tus-resumable') === VERSION) return;
  throw uploadError('tus_version_unsupported', `This server speaks version ${VERSION} of tus. Send Tus-Resumable: ${VERSION}.`);
}

function readNumber(name: string, headers: ReadonlyMap<string, string>): number {
  const given = headers.get(name.toLowerCase());
  if (given !== undefined && /^\d{1,15}$/.test(given)) return Number(given);
  throw uploadError('invalid_request', `${name} has to be a number of bytes.`);
}
