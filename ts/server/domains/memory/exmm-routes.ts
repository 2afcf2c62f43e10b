/** Memory files: their sections are listed and removed, memories exported into them, files merged, loaded and pinned. */
import Type from 'typebox';
import type { Principal } from '../../platform/http/principal.ts';
import { scopeOf } from '../../platform/http/principal.ts';
import type { RequestContext, Route } from '../../platform/http/route.ts';
import { routes } from '../../platform/http/route-group.ts';
import { named } from '../../platform/schema/named.ts';
import { auditEntry, auditSource, type IdentityApi } from '../identity/index.ts';
import { retrievalErrors } from '../retrieval/index.ts';
import { memoryErrors } from './errors.ts';
import { type FileSection, SECTION_KINDS, type SectionKind } from './files/directory.ts';
import type { FileLoading } from './files/file-loading.ts';
import type { FilePin } from './files/file-pins.ts';
import { OWNED_KINDS } from './files/filed-memories.ts';
import { type MemoryFiles, sectionId } from './files/memory-files.ts';
import type { MasterMemory } from './master-memory.ts';
import { FILE, MEMORY_KINDS, ownerOf, TENANT } from './memory.ts';
import { Kind, memoryErrorBody } from './schemas.ts';

interface ExmmRouteDeps {
  readonly files: MemoryFiles;
  readonly loading: FileLoading;
  readonly master: MasterMemory;
  readonly nodeId: () => string;
  readonly recordAct: IdentityApi['recordAct'];
}

const shared = { tag: 'Memory files', scope: 'account:manage', errors: memoryErrors, errorBody: memoryErrorBody } as const;
const { get, post, del } = routes({ ...shared, auth: 'viewer' });
const managed = routes({ ...shared, auth: 'developer' });
const { scope: _, ...ofNode } = shared;
const overseen = routes({ ...ofNode, auth: 'admin' });
const superadmin = routes({ ...ofNode, auth: 'superadmin' });

const SECTIONS = '/api/v1/exmm';
const MASTER_PATH = '/api/v1/cluster/storage/system-exmm';

/** A name that is none answers as that of a file which is not there. */
const File = Type.String({ minLength: 1, maxLength: 200, description: 'NAME.exmm, in the tenant of the caller.' });
const NewFile = Type.String({ minLength: 6, maxLength: 85, description: 'NAME.exmm' });
const FileQuery = Type.Object({ file: Type.Optional(File) });
const SectionQuery = Type.Object({
  file: File,
  section: Type.String({
    pattern: `^(${SECTION_KINDS.join('|')}):[^\\u0000-\\u001f]{1,200}$`,
    description: 'KIND:NAME, as the list has it; `me` as the name stands for what is your own.',
  }),
});
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

const Entries = named(
  'MemoryFileEntries',
  Type.Object({
    data: Type.Array(
      Type.Object({
        file: Type.String(),
        section: Type.Optional(Type.String({ description: 'KIND:NAME; absent: the entry is a file.' })),
        kind: Type.Optional(Type.Enum([...SECTION_KINDS])),
        size_bytes: Type.Integer(),
        sha256: Type.Optional(Sha256),
        node: Type.Optional(Type.String({ description: 'Id of the node that has the file. Of a file alone.' })),
        pinned: Type.Optional(Type.Boolean({ description: 'It is the master memory. Of a file alone.' })),
      }),
    ),
  }),
);
const JobBegun = Type.Object({ job_id: Type.String() });
const Master = named(
  'MasterMemory',
  Type.Object({
    pinned: Type.Boolean(),
    file: Type.Optional(Type.String({ description: 'Shown to the tenant in which it lies.' })),
    sha256: Type.Optional(Sha256),
  }),
);
const LoadedShape = named(
  'LoadedMemoryFile',
  Type.Object({
    file: Type.String(),
    sections: Type.Array(Type.String(), { description: 'Those that the caller reaches.' }),
    loaded: Type.Integer({ description: 'Memories that are there now and were not before.' }),
    skipped: Type.Array(Type.Object({ section: Type.String(), reason: Type.String() })),
  }),
);

export function exmmRoutes(deps: ExmmRouteDeps): Route[] {
  return [...listRoutes(deps), ...jobRoutes(deps), loadRoute(deps), ...masterRoutes(deps)];
}

function listRoutes({ files, loading, master, nodeId, recordAct }: ExmmRouteDeps): Route[] {
  const entries = async ({ caller, query, signal }: RequestContext<object, { file?: string }>, isLearned: boolean) => {
    const { file } = query;
    if (file === undefined) {
      const pin = await master.get();
      const isPinned = (name: string) => pin?.file === name && pin.scope.tenant === caller.tenant;
      const listed = await files.list(caller, signal);
      const rowOf = (name: string, size_bytes: number) => ({ file: name, size_bytes, node: nodeId(), pinned: isPinned(name) });
      return { data: listed.map(({ file: name, sizeBytes }) => rowOf(name, sizeBytes)) };
    }
    const sections = await files.sections(caller, file, signal);
    return { data: sections.filter(({ kind }) => OWNED_KINDS.includes(kind) !== isLearned).map(sectionBody(caller, file)) };
  };
  const remove = async (context: RequestContext<object, { file: string; section: string }>) => {
    const { caller, query, signal } = context;
    const section = sectionNamed(caller, query.section);
    await files.remove(caller, query.file, section, signal);
    if (section.kind === 'episodes' && section.name === TENANT) await loading.detach(scopeOf(caller), `${FILE}${query.file}`);
    const target = `${query.file} ${sectionId(caller, section)}`;
    await recordAct(auditEntry(auditSource(context), { action: 'memory.file_section_remove', target }));
  };
  const readErrors = ['memory_file_not_found', 'memory_file_invalid', 'memory_files_busy'] as const;
  const removeErrors = [...readErrors, 'memory_section_not_found', 'memory_file_pinned', 'tenant_memory_denied'] as const;
  const removal =
    'A file without sections goes. Your own sections are removed by you, those of the tenant and learned ones by those who make them.';
  return [
    get(`${SECTIONS}/models`, {
      summary: 'Memory files, or the learned sections of one',
      description:
        'Without `file`: the files of all nodes in which you reach something. With it: its world models and routers. A request that names a file is ' +
        'answered by the node that has it.',
      query: FileQuery,
      answer: Entries,
      errors: readErrors,
      handle: async (context) => await entries(context, true),
    }),
    get(`${SECTIONS}/shard`, {
      summary: 'The memories, vectors and slots of a memory file that you reach',
      description: 'Without `file`: the files in which you reach something. Sections of other accounts are not shown.',
      query: FileQuery,
      answer: Entries,
      errors: readErrors,
      handle: async (context) => await entries(context, false),
    }),
    del(`${SECTIONS}/models`, {
      summary: 'Remove a learned section of a memory file',
      description: removal,
      query: SectionQuery,
      errors: removeErrors,
      handle: remove,
    }),
    del(`${SECTIONS}/shard`, {
      summary: 'Remove memories, vectors or slots of a memory file',
      description: removal,
      query: SectionQuery,
      errors: removeErrors,
      handle: remove,
    }),
  ];
}

function jobRoutes({ files, recordAct }: ExmmRouteDeps): Route[] {
  return [
    post(`${SECTIONS}/export`, {
      summary: 'Export memories into a file',
      description:
        'A background job. Memories that are current, of yourself or of the tenant, take the place of those that the file had of the same owner; all else ' +
        'in it stays. The file lies in `data_dir/memory/TENANT` of the node.',
      body: Type.Object(
        {
          file: NewFile,
          owner: Type.Optional(Type.Enum(['me', TENANT], { description: 'me by default.' })),
          kinds: Type.Optional(
            Type.Array(Kind, { minItems: 1, maxItems: MEMORY_KINDS.length, description: 'Of memories; all by default.' }),
          ),
        },
        { additionalProperties: false },
      ),
      answer: JobBegun,
      status: 202,
      errors: ['invalid_request', 'memory_file_pinned', 'tenant_memory_denied'],
      handle: async (context) => {
        const { caller, body } = context;
        const { file, owner, kinds = MEMORY_KINDS } = body;
        const job = await files.beginExport(caller, { file, kinds, isOfTenant: owner === TENANT });
        await recordAct(auditEntry(auditSource(context), { action: 'memory.export', target: file }));
        return { job_id: job.id };
      },
    }),
    managed.post(`${SECTIONS}/consolidate`, {
      summary: 'Merge memory files into one',
      description:
        'A background job. All sections stay as they are, with those of the files in `with` beside them; of one owner and kind, those that differ get a ' +
        'number. The file as it was lies beside it as `FILE.pre-consolidate.bak`.',
      body: Type.Object({ file: File, with: Type.Optional(Type.Array(File, { maxItems: 50 })) }, { additionalProperties: false }),
      answer: JobBegun,
      status: 202,
      errors: ['memory_file_not_found', 'memory_file_invalid', 'memory_file_pinned', 'memory_files_busy'],
      handle: async (context) => {
        const { caller, body, signal } = context;
        const job = await files.beginConsolidation(caller, body.file, body.with ?? [], signal);
        await recordAct(auditEntry(auditSource(context), { action: 'memory.consolidate', target: body.file }));
        return { job_id: job.id };
      },
    }),
  ];
}

function loadRoute({ loading, recordAct }: ExmmRouteDeps): Route {
  return post('/api/v1/retrieve/load', {
    summary: 'Load a memory file: import its memories, or search it',
    description:
      '`import` makes memories of what the file has of you and, for those who may, of the tenant; their texts are embedded again, and what is there ' +
      'already stays. `attach` searches what the file has of the tenant beside everybody’s memories, as it is now, until the section is removed.',
    body: Type.Object({ file: File, mode: Type.Enum(['attach', 'import']) }, { additionalProperties: false }),
    answer: LoadedShape,
    errors: ['memory_file_not_found', 'memory_file_invalid', 'memory_files_busy', 'tenant_memory_denied', ...retrievalErrors.all],
    handle: async (context) => {
      const { caller, body, signal } = context;
      const { file, mode } = body;
      const loaded = await (mode === 'attach' ? loading.attach(caller, file, signal) : loading.import(caller, file, signal));
      await recordAct(
        auditEntry(auditSource(context), { action: `memory.${mode}`, target: file, detail: { loaded: loaded.loaded } }),
      );
      return loaded;
    },
  });
}

function masterRoutes({ master, recordAct }: ExmmRouteDeps): Route[] {
  return [
    overseen.get(MASTER_PATH, {
      summary: 'Whether a master memory is pinned',
      answer: Master,
      handle: async ({ caller }) => masterBody(caller, await master.get()),
    }),
    superadmin.put(MASTER_PATH, {
      summary: 'Pin a memory file as master memory',
      description:
        'What the file has of the tenant is found by everybody’s searches, in all tenants, and nobody changes the file while it is pinned.',
      body: Type.Object(
        {
          file: File,
          node: Type.Optional(Type.String({ description: 'Id of the node that has the file. Of a file alone.' })),
          pinned: Type.Optional(Type.Literal(true)),
          sha256: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the file that is meant.' })),
        },
        { additionalProperties: false },
      ),
      answer: Master,
      errors: [
        'memory_file_not_found',
        'memory_file_invalid',
        'memory_file_changed',
        'memory_files_busy',
        ...retrievalErrors.all,
      ],
      handle: async (context) => {
        const { caller, body, signal } = context;
        const pin = await master.pin(caller, body.file, body.sha256, signal);
        await recordAct(auditEntry(auditSource(context), { action: 'memory.pin_master', target: body.file }));
        return masterBody(caller, pin);
      },
    }),
    superadmin.del(MASTER_PATH, {
      summary: 'Unpin the master memory',
      answer: Master,
      handle: async (context) => {
        await master.unpin();
        await recordAct(auditEntry(auditSource(context), { action: 'memory.unpin_master', target: 'system-exmm' }));
        return masterBody(context.caller, undefined);
      },
    }),
  ];
}

function masterBody(caller: Principal, pin: FilePin | undefined) {
  if (pin === undefined) return { pinned: false };
  return { pinned: true, sha256: pin.sha256, ...(pin.scope.tenant === caller.tenant && { file: pin.file }) };
}

function sectionBody(caller: Principal, file: string) {
  return (section: FileSection) => ({
    file,
    section: sectionId(caller, section),
    kind: section.kind,
    size_bytes: section.size,
    sha256: Buffer.from(section.sha256).toString('hex'),
  });
}

function sectionNamed(caller: Principal, id: string): { kind: SectionKind; name: string } {
  const at = id.indexOf(':');
  const kind = id.slice(0, at) as SectionKind;
  const name = id.slice(at + 1);
  return { kind, name: OWNED_KINDS.includes(kind) ? name.replace(/^me(?=#|$)/, ownerOf(caller)) : name };
}
