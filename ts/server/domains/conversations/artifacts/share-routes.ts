/** Links to artifacts: made and taken back by the owner, read by everybody of the tenant who has one. */
import { scopeOf } from '../../../platform/http/principal.ts';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { conversationErrors } from '../errors.ts';
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
const SHARE = `${ARTIFACTS}/share`;

const { get, post, del } = routes({ tag: 'Artifacts', auth: 'viewer', scope: 'account:manage', errors: conversationErrors });

export function artifactShareRoutes(service: ArtifactService): Route[] {
  return [shareRoute(service), readRoute(service), revokeRoute(service)];
}

function shareRoute(service: ArtifactService): Route {
  return post(`${SHARE}/`, {
    maxBody: 1024,
    summary: 'Share a version of an artifact by link inside the tenant',
    description: 'The last version unless one is named. A version that is shared already keeps its link, with status 200.',
    body: ShareArtifact,
    responses: { 200: ArtifactShareShape, 201: ArtifactShareShape },
    errors: ['invalid_request', 'artifact_not_found'],
    handle: async ({ caller, body }) => {
      const { share, isNew } = await service.share(ownerOf(caller), body.id, body.version);
      return json(isNew ? 201 : 200, toArtifactShareShape(share));
    },
  });
}

function readRoute(service: ArtifactService): Route {
  return get(`${SHARE}/{share}`, {
    summary: 'Read an artifact that somebody of your tenant shared',
    params: ShareParams,
    answer: SharedArtifactShape,
    errors: ['share_not_found'],
    handle: async ({ caller, params }) => {
      const { artifact, shown } = await service.readShared(scopeOf(caller), params.share);
      return toContentShape(artifact, shown);
    },
  });
}

function revokeRoute(service: ArtifactService): Route {
  return del(`${SHARE}/{share}`, {
    summary: 'Take back a link to an artifact',
    params: ShareParams,
    errors: ['share_not_found'],
    handle: async ({ caller, params }) => {
      await service.revoke(ownerOf(caller), params.share);
    },
  });
}
