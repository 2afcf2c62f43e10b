/** Links to artifacts: made and taken back by the owner, read by everybody of the tenant who has one. */
import Type from 'typebox';
import { scopeOf } from '../../../platform/http/principal.ts';
import { json, type Route, route } from '../../../platform/http/route.ts';
import { errorSpecs, refusing } from '../errors.ts';
import { ownerOf } from '../owner.ts';
import type { ArtifactService } from './artifact-service.ts';
import {
  ArtifactShareShape,
  ShareArtifact,
  SharedArtifactShape,
  ShareParams,
  toArtifactShareShape,
  toContentShape,
} from './schemas.ts';

export const ARTIFACTS = '/api/v1/artifacts';
export const common = { auth: 'viewer', scope: 'account:manage', tag: 'Artifacts' } as const;
const SHARE = `${ARTIFACTS}/share`;

export function artifactShareRoutes(service: ArtifactService): Route[] {
  return [shareRoute(service), readRoute(service), revokeRoute(service)];
}

function shareRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'POST',
    path: `${SHARE}/`,
    maxBody: 1024,
    summary: 'Share a version of an artifact by link inside the tenant',
    description: 'The last version unless one is named. A version that is shared already keeps its link, with status 200.',
    body: ShareArtifact,
    responses: { 200: ArtifactShareShape, 201: ArtifactShareShape },
    errors: errorSpecs('invalid_request', 'artifact_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, body }) => {
      const { share, isNew } = await service.share(ownerOf(caller), body.id, body.version);
      return json(isNew ? 201 : 200, toArtifactShareShape(share));
    }),
  });
}

function readRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'GET',
    path: `${SHARE}/{share}`,
    maxBody: 0,
    summary: 'Read an artifact that somebody of your tenant shared',
    params: ShareParams,
    responses: { 200: SharedArtifactShape },
    errors: errorSpecs('share_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, params }) => {
      const { artifact, shown } = await service.readShared(scopeOf(caller), params.share);
      return json(200, toContentShape(artifact, shown));
    }),
  });
}

function revokeRoute(service: ArtifactService): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: `${SHARE}/{share}`,
    maxBody: 0,
    summary: 'Take back a link to an artifact',
    params: ShareParams,
    responses: { 204: Type.Null() },
    errors: errorSpecs('share_not_found', 'storage_unavailable'),
    handle: refusing(async ({ caller, params }) => {
      await service.revoke(ownerOf(caller), params.share);
      return { kind: 'bytes', status: 204, headers: {}, body: '' };
    }),
  });
}
