/** `[models."NAME"]` of svc.toml: what is set otherwise for one model. */
import Type from 'typebox';
import { type EngineOptions, engineOptions } from '../../native/options/engine-options.ts';
import { type LoadOptionValues, loadOptions } from '../../native/options/load-options.ts';
import type { Option } from '../../native/options/option.ts';
import { type Setting, type SettingsSpec, setting, textSchema } from '../../platform/config/setting.ts';
import { optionsFromSettings, settingsOfOptions } from './option-settings.ts';

/** By the name of the model, then by the last part of the key that holds for all models. */
export type ModelSections = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Options of one model, over those of all. */
export interface ModelOptions {
  engine: EngineOptions;
  load: LoadOptionValues;
  /** Id of the model that drafts for it; empty: none does. */
  draftModel?: string;
}

const prefix = 'inference.';
const perModel = new Set(
  Object.values<Option>({ ...engineOptions, ...loadOptions }).flatMap((option) =>
    option.perModel === true && option.setting !== undefined ? [option.setting] : [],
  ),
);

function sectionSettings(): SettingsSpec {
  const all: SettingsSpec = { ...settingsOfOptions(engineOptions), ...settingsOfOptions(loadOptions) };
  const members = Object.entries(all).flatMap(([key, each]) =>
    perModel.has(key) ? [[key.slice(prefix.length), { ...each, inherits: key }]] : [],
  );
  return {
    ...Object.fromEntries(members),
    draft_model: setting(
      textSchema,
      '',
      'The model that drafts for this one, over what inference.draft_model says; empty: none does.',
    ),
  };
}

export const modelSections: Setting<ReturnType<typeof Type.Unsafe<ModelSections>>> = {
  schema: Type.Unsafe<ModelSections>({ type: 'object' }),
  default: {},
  help: 'Settings of one model, in a section [models."NAME"] of the file: members of [inference] that concern a model or its context, over what stands there.',
  sections: sectionSettings(),
};

export function optionsOfModels(sections: ModelSections): ReadonlyMap<string, ModelOptions> {
  return new Map(Object.entries(sections).map(([name, section]) => [name, optionsOfModel(section)]));
}

function optionsOfModel({ draft_model: draftModel, ...section }: Readonly<Record<string, unknown>>): ModelOptions {
  const values = Object.fromEntries(Object.entries(section).map(([key, value]) => [`${prefix}${key}`, value]));
  return {
    engine: optionsFromSettings(engineOptions, values),
    load: optionsFromSettings(loadOptions, values),
    ...(draftModel === undefined ? {} : { draftModel: String(draftModel) }),
  };
}
