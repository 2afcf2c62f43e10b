/** The prompt library: the caller's own prompts, and those of the tenant, which developers write and everybody uses. */
import Type, { type Static } from 'typebox';
import type { PolicyName } from '../../../platform/http/policy.ts';
import { type Principal, scopeOf } from '../../../platform/http/principal.ts';
import { json, type Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { toWire } from '../../../platform/http/to-wire.ts';
import { named } from '../../../platform/schema/named.ts';
import { conversationError, conversationErrors } from '../errors.ts';
import { MAX_PROMPT_LENGTH, MAX_PROMPTS, MAX_TITLE_LENGTH } from '../limits.ts';
import { type Owner, ownerOf } from '../owner.ts';
import { ID_PATTERN } from '../schemas.ts';
import type { PromptService } from './prompt-service.ts';
import { type Prompt, tenantList } from './prompt-store.ts';

const PATH = '/api/v1/edge/prompts';
const MAX_BODY_BYTES = 6 * (MAX_PROMPT_LENGTH + MAX_TITLE_LENGTH) + 1024;

const Title = Type.String({ minLength: 1, maxLength: MAX_TITLE_LENGTH });
const Content = Type.String({ minLength: 1, maxLength: MAX_PROMPT_LENGTH });
const Params = Type.Object({ id: Type.String() });
const CreatePrompt = named(
  'CreatePrompt',
  Type.Object({
    id: Type.Optional(Type.String({ pattern: ID_PATTERN, description: '1 to 64 letters, digits, `_` and `-`.' })),
    title: Title,
    content: Content,
  }),
);
const PatchPrompt = named('PatchPrompt', Type.Object({ title: Type.Optional(Title), content: Type.Optional(Content) }));
const PromptShape = named(
  'Prompt',
  Type.Object({
    id: Type.String(),
    title: Title,
    content: Content,
    shared: Type.Boolean({ description: 'It is the tenant’s.' }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  }),
);
const PromptList = named('PromptList', Type.Object({ data: Type.Array(PromptShape) }));

interface List {
  readonly path: string;
  /** Who may change it. */
  readonly auth: PolicyName;
  /** Ends the summaries. */
  readonly whose: string;
  of(caller: Principal): Owner;
}

const OWN: List = { path: PATH, auth: 'viewer', whose: 'of your own', of: ownerOf };
const SHARED: List = {
  path: `${PATH}/shared`,
  auth: 'developer',
  whose: 'of the tenant',
  of: (caller) => tenantList(scopeOf(caller)),
};

const { get, post, patch, del } = routes({
  tag: 'Prompts',
  auth: 'viewer',
  scope: 'account:manage',
  maxBody: MAX_BODY_BYTES,
  errors: conversationErrors,
});

export function promptRoutes(service: PromptService): Route[] {
  return [
    listRoute(service),
    ...[OWN, SHARED].flatMap((list) => [createRoute(service, list), changeRoute(service, list), removeRoute(service, list)]),
  ];
}

function listRoute(service: PromptService): Route {
  return get(PATH, {
    summary: 'Your prompts and those of the tenant, by title',
    description: `At most ${MAX_PROMPTS} of each are kept.`,
    answer: PromptList,
    handle: async ({ caller }) => ({ data: (await service.list(ownerOf(caller))).map(toShape) }),
  });
}

function createRoute(service: PromptService, list: List): Route {
  return post(list.path, {
    auth: list.auth,
    summary: `Save a prompt ${list.whose}`,
    description: 'With the `id` of one that is there already, that one is answered unchanged, with status 200.',
    body: CreatePrompt,
    responses: { 200: PromptShape, 201: PromptShape },
    errors: ['invalid_request', 'too_many_prompts'],
    handle: async ({ caller, body }) => {
      if (body.id === 'shared') throw conversationError('invalid_request', '`id` cannot be "shared"; choose another.');
      const { prompt, isNew } = await service.create(list.of(caller), body);
      return json(isNew ? 201 : 200, toShape(prompt));
    },
  });
}

function changeRoute(service: PromptService, list: List): Route {
  return patch(`${list.path}/{id}`, {
    auth: list.auth,
    summary: `Change a prompt ${list.whose}`,
    params: Params,
    body: PatchPrompt,
    answer: PromptShape,
    errors: ['invalid_request', 'prompt_not_found'],
    handle: async ({ caller, params, body }) => toShape(await service.update(list.of(caller), params.id, body)),
  });
}

function removeRoute(service: PromptService, list: List): Route {
  return del(`${list.path}/{id}`, {
    auth: list.auth,
    summary: `Delete a prompt ${list.whose}`,
    params: Params,
    errors: ['prompt_not_found'],
    handle: async ({ caller, params }) => {
      await service.remove(list.of(caller), params.id);
    },
  });
}

const toShape: (prompt: Prompt) => Static<typeof PromptShape> = toWire;
