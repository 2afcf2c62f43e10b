/** Artifacts of the caller: list, save, add versions, delete. Sharing is in share-routes.ts. */
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { conversationErrors } from '../errors.ts';
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
import { ARTIFACTS, artifactShareRoutes } from './share-routes.ts';

/** A character takes up to six bytes in JSON, as an escape. */
const MAX_BODY_BYTES = 6 * MAX_ARTIFACT_LENGTH + 16_384;

const { get, post, del } = routes({
  tag: 'Artifacts',
  auth: 'viewer',
  scope: 'account:manage',
  maxBody: MAX_BODY_BYTES,
  errors: conversationErrors,
});

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
  return get(ARTIFACTS, {
    summary: 'Your artifacts, those changed last first: pages, drawings and code that came out of chats',
    query: ListQuery,
    answer: ArtifactList,
    errors: ['invalid_request'],
    handle: async ({ caller, query: { limit = MAX_PAGE_ARTIFACTS, after, conversation_id: conversationId } }) => {
      const cursor = after === undefined ? undefined : readCursor(after);
      const found = await service.list(ownerOf(caller), limit + 1, cursor, conversationId);
      const page = found.slice(0, limit);
      const last = found.length > limit ? page.at(-1) : undefined;
      return { data: page.map(toArtifactShape), ...(last === undefined ? {} : { next: cursorText(last) }) };
    },
  });
}

function createRoute(service: ArtifactService): Route {
  return post(ARTIFACTS, {
    summary: 'Save an artifact',
    description: 'With the `id` of one that is there already, that one is answered unchanged, with status 200.',
    body: CreateArtifact,
    responses: { 200: ArtifactShape, 201: ArtifactShape },
    errors: ['invalid_request', 'conversation_not_found', 'too_many_artifacts', 'conversation_quota_exceeded'],
    handle: async ({ caller, body: { conversation_id: conversationId, message_id: messageId, ...rest } }) => {
      const { artifact, isNew } = await service.create(ownerOf(caller), { ...rest, conversationId, messageId });
      return json(isNew ? 201 : 200, toArtifactShape(artifact));
    },
  });
}

function readRoute(service: ArtifactService): Route {
  return get(`${ARTIFACTS}/{id}`, {
    summary: 'An artifact with the content of its last version, or of the one that is named',
    params: ArtifactParams,
    query: VersionQuery,
    answer: ArtifactDetailShape,
    errors: ['artifact_not_found'],
    handle: async ({ caller, params, query }) => toDetailShape(await service.get(ownerOf(caller), params.id, query.version)),
  });
}

function versionRoute(service: ArtifactService): Route {
  return post(`${ARTIFACTS}/{id}/versions`, {
    summary: 'Add a version',
    description: 'The content of the last version is no new one: it is answered with status 200.',
    params: ArtifactParams,
    body: CreateVersion,
    responses: { 200: ArtifactShape, 201: ArtifactShape },
    errors: ['invalid_request', 'artifact_not_found', 'artifact_full', 'conversation_quota_exceeded'],
    handle: async ({ caller, params, body: { content, message_id: messageId } }) => {
      const { artifact, isNew } = await service.addVersion(ownerOf(caller), params.id, { content, messageId });
      return json(isNew ? 201 : 200, toArtifactShape(artifact));
    },
  });
}

function removeRoute(service: ArtifactService): Route {
  return del(`${ARTIFACTS}/{id}`, {
    summary: 'Delete an artifact with all of its versions and links',
    params: ArtifactParams,
    errors: ['artifact_not_found'],
    handle: async ({ caller, params }) => {
      await service.remove(ownerOf(caller), params.id);
    },
  });
}
