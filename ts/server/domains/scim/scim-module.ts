/** Wires the scim module, which keeps nothing of its own. */
import type { Module } from '../../platform/module/module.ts';
import type { ModuleContext } from '../../platform/module/module-context.ts';
import { identity } from '../identity/index.ts';
import { scimRoutes } from './routes.ts';
import { scimErrorBody } from './scim-error.ts';
import { ScimGroups } from './scim-groups.ts';
import { ScimUsers } from './scim-users.ts';

type Settings = Record<never, never>;

export function createScim({ use }: Pick<ModuleContext<Settings>, 'use'>): Module<undefined> {
  const { users, groups } = use(identity).provisioning;
  return {
    api: undefined,
    errorBodies: [{ prefix: '/scim', errorBody: scimErrorBody }],
    routes: scimRoutes(new ScimUsers(users), new ScimGroups(groups)),
    start: async () => {},
    stop: async () => {},
    health: () => ({ state: {}, reasons: [] }),
    ready: () => undefined,
  };
}
