/**
 * Every module of the product, in one list: its tier (a module imports modules of lower tiers only), the role of a node that
 * switches it on (none: it always runs), and the paths below /api/v1/ that are its own.
 */

export interface ModuleInfo {
  name: string;
  tier: 1 | 2 | 3 | 4 | 5 | 6;
  role?: Role;
  /** First segments behind /api/v1/. */
  paths: readonly string[];
  /** Those of its paths that a missing route below names it for, beside its own name. */
  dispatched?: readonly string[];
  /** Modules that it cannot run without: it is off while one of them is, and its routes answer what that one's do. */
  needs?: readonly string[];
  /** The interface does not name it, so that neither /health nor the roles list it. */
  isInternal?: true;
  /** The refusal of a request that asks a module of a higher tier for something of this one while this one is off. */
  whenOff?: { code: string; sentence: string };
}

export const ROLES = ['controller', 'edge', 'data', 'inference', 'cloud', 'router', 'media', 'security', 'logs'] as const;
export type Role = (typeof ROLES)[number];

/** The categories of sources of the module science: each lists its own below /api/v1/CATEGORY/sources. */
export const CATEGORIES = [
  'literature',
  'biology',
  'medicine',
  'chemistry',
  'earth',
  'weather',
  'space',
  'statistics',
  'reference',
] as const;

export const MODULES = [
  { name: 'identity', tier: 1, paths: ['auth', 'identity', 'users', 'tenants'] },
  { name: 'license', tier: 1, paths: ['license'] },
  { name: 'metering', tier: 1, paths: ['metering'] },
  { name: 'syslog', tier: 1, paths: [] },
  { name: 'security', tier: 1, role: 'security', paths: ['security'] },

  { name: 'inference', tier: 2, role: 'inference', paths: ['inference', 'models'] },
  {
    name: 'files',
    tier: 2,
    role: 'data',
    paths: [],
    isInternal: true,
    whenOff: {
      code: 'tool_unavailable',
      sentence: 'The module files, which reads documents, does not run on this node; switch the role data on.',
    },
  },
  { name: 'retrieval', tier: 2, role: 'data', paths: [], isInternal: true },
  {
    name: 'media',
    tier: 2,
    role: 'media',
    paths: ['media', 'stt', 'tts', 'video'],
    dispatched: ['stt', 'tts', 'video'],
    whenOff: {
      code: 'tool_unavailable',
      sentence:
        'The module media, which reads texts aloud, does not run on this node; leave `say` out, or switch the role media on.',
    },
  },

  {
    name: 'data',
    tier: 3,
    role: 'data',
    paths: ['data', 'vector', 'upload'],
    whenOff: {
      code: 'knowledge_unavailable',
      sentence:
        'The module data, which has the knowledge bases, does not run on this node; leave `knowledge` out, or switch the role data on.',
    },
  },
  {
    name: 'conversations',
    tier: 3,
    role: 'edge',
    paths: ['artifacts'],
    whenOff: {
      code: 'conversations_unavailable',
      sentence: 'The module conversations does not run on this node; leave `conversation_id` out, or switch the role edge on.',
    },
  },
  {
    name: 'memory',
    tier: 3,
    role: 'data',
    paths: ['memory', 'exmm', 'worldmodel', 'retrieve', 'router-xlstm'],
    whenOff: {
      code: 'memory_unavailable',
      sentence: 'The module memory does not run on this node; leave `memory` out, or switch the role data on.',
    },
  },
  { name: 'cloud', tier: 3, role: 'cloud', paths: ['cloud'] },
  { name: 'cluster', tier: 3, paths: ['cluster'] },
  {
    name: 'logs',
    tier: 3,
    role: 'logs',
    paths: ['logs'],
    whenOff: {
      code: 'logs_unavailable',
      sentence: 'The module logs does not run on this node; leave `logs` out, or switch the role logs on.',
    },
  },
  { name: 'comm', tier: 3, role: 'edge', paths: ['comm'] },
  { name: 'science', tier: 3, role: 'edge', paths: ['science', ...CATEGORIES] },
  { name: 'iot', tier: 3, role: 'edge', paths: ['iot'] },

  {
    name: 'edge',
    tier: 4,
    role: 'edge',
    paths: ['edge', 'agent', 'tools'],
    whenOff: {
      code: 'tools_unavailable',
      sentence:
        'The module edge, which runs tools, does not run on this node; leave X-Svc-Edge-Tools out, or switch the role edge on.',
    },
  },

  { name: 'completions', tier: 5, paths: [], needs: ['inference'], isInternal: true },

  { name: 'router', tier: 6, role: 'router', paths: ['router'] },
  { name: 'swarm', tier: 6, role: 'edge', paths: ['swarm'] },
  { name: 'scim', tier: 6, paths: [], isInternal: true },
  { name: 'webhooks', tier: 6, paths: ['webhooks'] },
  { name: 'backup', tier: 6, role: 'controller', paths: ['backup'] },
  { name: 'pages', tier: 6, paths: [] },
  { name: 'system', tier: 6, paths: ['system'] },
] as const satisfies readonly ModuleInfo[];

export type ModuleName = (typeof MODULES)[number]['name'];

/** Names by tier, lowest first. */
export const MODULE_TIERS: readonly (readonly ModuleName[])[] = [1, 2, 3, 4, 5, 6].map((tier) =>
  MODULES.filter((module) => module.tier === tier).map(({ name }) => name),
);

export function moduleInfo(name: ModuleName): ModuleInfo {
  return MODULES.find((module) => module.name === name) as ModuleInfo;
}
