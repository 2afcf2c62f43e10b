/** Artifacts of the caller: list, save, add versions, delete. Sharing is in share-routes.ts. */
import Type from 'typebox';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { errorSpecs, refusing } from '../errors.ts';
import { MAX_ARTIFACT_LENGTH, MAX_PAGE_ARTIFACTS } from '../limits.ts';
import { ownerOf } from '../owner.ts';
import { cursorText, readCursor } from '../routes/cursor.ts';
import type { ArtifactService } from './artifact-service.ts';
import {
  ArtifactDetailShape,
  ArtifactList,
  ArtifactParams,
  ArtifactShape,
  CreateArtifact,
  CreateVersion,
  ListQuery,
  toArtifactShape,
  toDetailShape,
  VersionQuery,
} from './schemas.ts';
import { ARTIFACTS, artifactShareRoutes, common } from './share-routes.ts';

/** A character takes up to six bytes in JSON, as an escape. */
const MAX_BODY_BYTES = 6 * MAX_ARTIFACT_LENGTH + 16_384;

export function artifactRoutes(service: ArtifactService): Route[] {
  return [
    listRoute(service),
    createRoute(service),
    readRoute(service),
    versionRoute(service),
    removeRoute(service),
    ...artifactShareRoutes(service),
  ];
}

function listRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'GET',
    path: ARTIFACTS,
    maxBody: 0,
    summary: 'Your artifacts, those changed last first: pages, drawings and code that came out of chats',
    query: ListQuery,
    responses: { 200: ArtifactList },
    errors: errorSpecs('invalid_request', 'storage_unavailable'),
    handle: refusing(async ({ caller, query: { limit = MAX_PAGE_ARTIFACTS, after, conversation_id: conversationId } }) => {
      const cursor = after === undefined ? undefined : readCursor(after);
      const found = await service.list(ownerOf(caller), limit + 1, cursor, conversationId);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return json(200, { data: page.map(toArtifactShape), ...(last === undefined ? {} : { next: cursorText(last) }) });
    }),
  });
}

function createRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'POST',
    path: ARTIFACTS,
    maxBody: MAX_BODY_BYTES,
    summary: 'Save an artifact',
    description: 'With the `id` of one that is there already, that one is answered unchanged, with status 200.',
    body: CreateArtifact,
    responses: { 200: ArtifactShape, 201: ArtifactShape },
    errors: errorSpecs(
      'invalid_request',
      'conversation_not_found',
      'too_many_artifacts',
      'conversation_quota_exceeded',
      'storage_unavailable',
    ),
    handle: refusing(async ({ caller, body: { conversation_id: conversationId, message_id: messageId, ...rest } }) => {
      const { artifact, isNew } = await service.create(ownerOf(caller), { ...rest, conversationId, messageId });
      return json(isNew ? 201 : 200, toArtifactShape(artifact));
    }),
  });
}

function readRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${ARTIFACTS}/{id}`,
    maxBody: 0,
    summary: 'An artifact with the content of its last version, or of the one that is named',
    params: ArtifactParams,
    query: VersionQuery,
    responses: { 200: ArtifactDetailShape },
    errors: errorSpecs('artifact_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, params, query }) =>
      json(200, toDetailShape(await service.get(ownerOf(caller), params.id, query.version))),
    ),
  });
}

function versionRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${ARTIFACTS}/{id}/versions`,
    maxBody: MAX_BODY_BYTES,
    summary: 'Add a version',
    description: 'The content of the last version is no new one: it is answered with status 200.',
    params: ArtifactParams,
    body: CreateVersion,
    responses: { 200: ArtifactShape, 201: ArtifactShape },
    errors: errorSpecs(
      'invalid_request',
      'artifact_not_found',
      'artifact_full',
      'conversation_quota_exceeded',
      'storage_unavailable',
    ),
    handle: refusing(async ({ caller, params, body: { content, message_id: messageId } }) => {
      const { artifact, isNew } = await service.addVersion(ownerOf(caller), params.id, { content, messageId });
      return json(isNew ? 201 : 200, toArtifactShape(artifact));
    }),
  });
}

function removeRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: `${ARTIFACTS}/{id}`,
    maxBody: 0,
    summary: 'Delete an artifact with all of its versions and links',
    params: ArtifactParams,
    responses: { 204: Type.Null() },
    errors: errorSpecs('artifact_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, params }) => {
      await service.remove(ownerOf(caller), params.id);
      return { kind: 'bytes', status: 204, headers: {}, body: '' };
    }),
  });
}
