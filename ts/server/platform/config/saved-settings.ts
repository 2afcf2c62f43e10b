/** Settings that an administrator saves while the node runs. All but the live ones take effect at the next start. */
import { join } from 'node:path';
import type { Config } from './config.ts';
import { type EffectiveSetting, effectiveSetting } from './effective-config.ts';
import { readValue } from './read-value.ts';
import { readSavedValues, SAVED_FILE, type SavedValues, writeSavedValues } from './saved-values.ts';
import { findMember, findSetting, type SectionMember, sectionMemberOf } from './section-member.ts';
import { type Setting, shownValue } from './setting.ts';

export interface SavedSetting extends EffectiveSetting {
  /** JSON text, secrets masked; undefined: nothing is saved. */
  saved: string | undefined;
  /** JSON text of what the next start uses, whatever says so. */
  next: string;
  /** It has sections of its own, which are listed by their names. */
  hasSections: boolean;
  /** Of a member of a section that nothing names there: the key that holds instead. */
  inherited: string | undefined;
  /** What is saved, or no longer is, waits for the next start. */
  isPending: boolean;
}

/** A setting that is set where a page cannot change it. */
export class LockedSetting extends Error {
  readonly by: NonNullable<EffectiveSetting['lockedBy']>;

  constructor(key: string, by: LockedSetting['by'], environment: string) {
    super(
      by === 'machine'
        ? `${key} belongs to the operator of the machine: set it in svc.toml${environment === '' ? '' : ` or as ${environment}`}.`
        : by === 'environment'
          ? `${key} is set by the variable ${environment}, which wins over what is saved.`
          : `${key} is set on the command line, which wins over what is saved.`,
    );
    this.by = by;
  }
}

interface Held {
  value: unknown;
  origin: string;
}

export class SavedSettings {
  readonly #config: Config;
  readonly #file: string;
  readonly #onLive: (key: string, value: unknown) => void;
  /** What holds in this process. */
  readonly #now = new Map<string, Held>();
  #values: SavedValues;
  #last: Promise<unknown> = Promise.resolve();

  /** `onLive`: puts the value of a live setting into effect. */
  constructor(config: Config, dataDir: string, onLive: (key: string, value: unknown) => void) {
    this.#config = config;
    this.#file = join(dataDir, SAVED_FILE);
    this.#onLive = onLive;
    this.#values = readSavedValues(this.#file).values;
    for (const [key, value] of Object.entries(config.values))
      this.#now.set(key, { value, origin: config.origins[key] ?? 'default' });
  }

  list(): SavedSetting[] {
    return Object.entries(this.#config.spec).map(([key, setting]) => this.#shown(key, setting));
  }

  /** Every member of one section, whether it is named there or not; undefined: `key` has no sections. */
  listSection(key: string, name: string): SavedSetting[] | undefined {
    const { sections } = findSetting(this.#config.spec, key) ?? {};
    if (sections === undefined) return undefined;
    return Object.entries(sections).map(([member, setting]) => this.#shown(`${key}.${name}.${member}`, setting));
  }

  /** `key`: of a setting, or of a member of a section. Undefined: there is no such setting. Throws ConfigError for a value that it does not take, LockedSetting. */
  async save(key: string, text: string): Promise<SavedSetting | undefined> {
    const setting = findSetting(this.#config.spec, key);
    if (setting === undefined) return undefined;
    this.#requireUnlocked(key, setting);
    const value = readValue(key, setting, text, 'the value to be saved');
    await this.#write((values) => ({ ...values, [key]: value }));
    if (setting.isLive === true) this.#live(key, value, `saved ${this.#file}`);
    return this.#shown(key, setting);
  }

  /** What the files of the configuration say, or the default, holds again. Undefined: there is no such setting. */
  async forget(key: string): Promise<SavedSetting | undefined> {
    const setting = findSetting(this.#config.spec, key);
    if (setting === undefined) return undefined;
    await this.#write((values) => Object.fromEntries(Object.entries(values).filter(([name]) => name !== key)));
    const { value, origin } = this.#beneath(key);
    if (setting.isLive === true) this.#live(key, value, origin);
    return this.#shown(key, setting);
  }

  #shown(key: string, setting: Setting): SavedSetting {
    const section = sectionMemberOf(this.#config.spec, key);
    const own = this.#held(key, section);
    const held = own.value === undefined ? this.#inherited(setting) : own;
    const isSaved = Object.hasOwn(this.#values, key);
    const next = isSaved ? this.#values[key] : this.#beneath(key, section).value;
    const shown = effectiveSetting(key, setting, held.value, held.origin);
    return {
      ...shown,
      environment: section === undefined ? shown.environment : '',
      saved: isSaved ? shownValue(setting, this.#values[key]) : undefined,
      next: shownValue(setting, next ?? this.#inherited(setting).value),
      hasSections: setting.sections !== undefined,
      inherited: own.value === undefined ? setting.inherits : undefined,
      isPending: shown.lockedBy === undefined && JSON.stringify(next) !== JSON.stringify(own.value),
    };
  }

  /** What holds in this process; of a member that nothing names, no value. */
  #held(key: string, section: SectionMember | undefined): Held {
    if (section === undefined) return this.#now.get(key) ?? { value: undefined, origin: 'default' };
    return { value: findMember(this.#now.get(section.parent)?.value, section), origin: this.#config.origins[key] ?? 'default' };
  }

  /** What holds where nothing names it. */
  #inherited({ inherits, default: value }: Setting): Held {
    return (inherits === undefined ? undefined : this.#now.get(inherits)) ?? { value, origin: 'default' };
  }

  /** Without what is saved. */
  #beneath(key: string, section = sectionMemberOf(this.#config.spec, key)): Held {
    const { beneath, origins, values } = this.#config;
    if (Object.hasOwn(beneath, key)) return beneath[key] as Held;
    return section === undefined ? { value: values[key], origin: origins[key] ?? 'default' } : this.#held(key, section);
  }

  #requireUnlocked(key: string, setting: Setting): void {
    const { lockedBy, environment } = this.#shown(key, setting);
    if (lockedBy !== undefined) throw new LockedSetting(key, lockedBy, environment);
  }

  #live(key: string, value: unknown, origin: string): void {
    this.#now.set(key, { value, origin });
    this.#onLive(key, value);
  }

  /** One after the other, so that none loses what another has written. */
  async #write(change: (values: SavedValues) => SavedValues): Promise<void> {
    const written = this.#last.then(async () => {
      const values = change(this.#values);
      await writeSavedValues(this.#file, values);
      this.#values = values;
    });
    this.#last = written.catch(() => undefined);
    await written;
  }
}
