/** A member of a section: `models.NAME.ctx` is what `[models."NAME"]` says of `ctx`. */
import type { Setting, SettingsSpec } from './setting.ts';

export interface SectionMember {
  /** Key of the setting that has the sections. */
  parent: string;
  members: SettingsSpec;
  name: string;
  member: string;
}

/** What holds of a setting with sections: their members by name. */
export type Sections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Undefined: the key is a setting of its own, or nothing. Names may hold dots, members do not. */
export function sectionMemberOf(spec: SettingsSpec, key: string): SectionMember | undefined {
  if (Object.hasOwn(spec, key)) return undefined;
  const lastDot = key.lastIndexOf('.');
  for (const [parent, { sections: members }] of Object.entries(spec)) {
    const name = key.slice(parent.length + 1, Math.max(0, lastDot));
    if (members !== undefined && key.startsWith(`${parent}.`) && name !== '')
      return { parent, members, name, member: key.slice(lastDot + 1) };
  }
  return undefined;
}

/** The setting or the member of a section that a key names. */
export function findSetting(spec: SettingsSpec, key: string): Setting | undefined {
  if (Object.hasOwn(spec, key)) return spec[key];
  const { members = {}, member = '' } = sectionMemberOf(spec, key) ?? {};
  return Object.hasOwn(members, member) ? members[member] : undefined;
}

/** Undefined: the section does not name it. */
export function findMember(sections: unknown, { name, member }: Pick<SectionMember, 'name' | 'member'>): unknown {
  const all = (sections ?? {}) as Sections;
  const section = Object.hasOwn(all, name) ? all[name] : undefined;
  return section !== undefined && Object.hasOwn(section, member) ? section[member] : undefined;
}
