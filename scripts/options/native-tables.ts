/** The tables of options as C++: structs with defaults, and what reads them from JS. */
import { engineOptions } from '../../ts/server/native/options/engine-options.ts';
import { jobOptions } from '../../ts/server/native/options/job-options.ts';
import { loadOptions } from '../../ts/server/native/options/load-options.ts';
import { nativeName, type Option, type OptionTable } from '../../ts/server/native/options/option.ts';
import { samplingOptions } from '../../ts/server/native/options/sampling-options.ts';

interface Struct {
  name: string;
  about: string;
  table: OptionTable;
}

const structs: readonly Struct[] = [
  { name: 'SamplingOptions', about: 'How a token is chosen.', table: samplingOptions },
  { name: 'LoadSettings', about: "How a model's weights are read and where they lie.", table: loadOptions },
  { name: 'EngineOptions', about: 'How a context computes, and what may wait for it.', table: engineOptions },
  { name: 'JobSettings', about: 'What a job says beside its prompt and how it is sampled.', table: jobOptions },
];

const origin =
  '// Written by `npm run options` from the tables of ts/server/native/options/; not edited by hand.\n// clang-format off\n';

const header = 'native/llama/options/option_tables.h';
const source = 'native/llama/options/option_tables.cpp';

/** The generated files, by their paths. */
export function renderNativeTables(): Record<string, string> {
  return { [header]: renderHeader(), [source]: renderSource() };
}

function renderHeader(): string {
  return [
    origin,
    '#pragma once\n\n#include <cstdint>\n#include <optional>\n#include <string>\n#include <vector>\n',
    '#include "ggml-cpu.h"\n#include "llama.h"\n#include "sampler_kind.h"\n#include "speculation_mode.h"\n',
    'namespace svc {\n\nclass OptionReader;\n',
    ...structs.map(renderStruct),
    renderMetadata(samplingOptions),
    ...structs.map(({ name }) => `void read_table(const OptionReader & from, ${name} & to);`),
    '\n}  // namespace svc\n',
  ].join('\n');
}

function renderSource(): string {
  return [
    origin,
    '#include "option_tables.h"\n\n#include "../../common/option_reader.h"\n\nnamespace svc {\n',
    ...structs.map(renderReader),
    '}  // namespace svc\n',
  ].join('\n');
}

function renderStruct({ name, about, table }: Struct): string {
  const members = Object.entries(table).flatMap(([key, option]) => [
    `    // ${option.help}`,
    `    ${typeOf(option)} ${nativeName(key, option)}${initial(option)};`,
  ]);
  return `// ${about}\nstruct ${name} {\n${members.join('\n')}\n};\n`;
}

function renderReader({ name, table }: Struct): string {
  const lines = Object.entries(table).map(([key, option]) => `    ${readOf(key, option)}`);
  return `void read_table(const OptionReader & from, ${name} & to) {\n${lines.join('\n')}\n}\n`;
}

/** What a model's file may set, with the bounds that requests have. */
function renderMetadata(table: OptionTable): string {
  const lines = Object.entries(table).flatMap(([key, option]) => {
    if (!('metadata' in option) || option.metadata === undefined) return [];
    return [`    each("${option.metadata}", to.${nativeName(key, option)}, ${range(option)});`];
  });
  const about = "// Calls each(key below general.sampling, member, least, most) for all that a model's file may set.";
  const head = 'template <typename Each> void for_each_metadata(SamplingOptions & to, Each && each) {';
  return `${about}\n${head}\n${lines.join('\n')}\n}\n`;
}

function typeOf(option: Option): string {
  switch (option.kind) {
    case 'integer':
      return option.default === undefined ? `std::optional<${option.type}>` : option.type;
    case 'number':
      return 'float';
    case 'boolean':
      return option.default === undefined ? 'std::optional<bool>' : 'bool';
    case 'choice':
      return option.type;
    case 'choices':
      return `std::vector<${option.type}>`;
    case 'text':
      return 'std::string';
    case 'texts':
      return 'std::vector<std::string>';
    case 'numbers':
      return 'std::vector<float>';
  }
}

function initial(option: Option): string {
  switch (option.kind) {
    case 'integer':
    case 'boolean':
      return option.default === undefined ? '' : ` = ${option.default}`;
    case 'number':
      return ` = ${float(option.default)}`;
    case 'choice':
      return ` = ${option.choices[option.default]}`;
    case 'choices':
      return ` = {${option.default.map((name) => option.choices[name]).join(', ')}}`;
    case 'texts':
      return option.default === undefined ? '' : ` = {${option.default.map((text) => JSON.stringify(text)).join(', ')}}`;
    case 'text':
    case 'numbers':
      return '';
  }
}

function readOf(key: string, option: Option): string {
  const name = `"${key}"`;
  const member = `to.${nativeName(key, option)}`;
  switch (option.kind) {
    case 'integer': {
      const read = (into: string) => `from.integer(${name}, ${into}, ${range(option)});`;
      return option.default === undefined ? `if (from.has(${name})) ${read(`${member}.emplace()`)}` : read(member);
    }
    case 'number':
      return `from.number(${name}, ${member}, ${range(option)});`;
    case 'boolean': {
      const read = (into: string) => `from.boolean(${name}, ${into});`;
      return option.default === undefined ? `if (from.has(${name})) ${read(`${member}.emplace()`)}` : read(member);
    }
    case 'choice':
      return `from.choice<${option.type}>(${name}, ${member}, ${constants(option.choices)});`;
    case 'choices':
      return `from.choices<${option.type}>(${name}, ${member}, ${constants(option.choices)});`;
    case 'text':
      return `from.string(${name}, ${member});`;
    case 'texts':
      return `from.texts(${name}, ${member}, ${option.most}, ${option.mostBytes});`;
    case 'numbers':
      return `from.numbers(${name}, ${member}, ${option.most}, ${range(option)});`;
  }
}

function constants(choices: Readonly<Record<string, string>>): string {
  return `{${Object.entries(choices)
    .map(([name, constant]) => `{"${name}", ${constant}}`)
    .join(', ')}}`;
}

function range({ minimum, maximum }: { minimum: number; maximum: number }): string {
  return `${minimum}, ${maximum >= 2 ** 31 ? float(maximum).slice(0, -1) : maximum}`;
}

function float(value: number): string {
  const text = String(value);
  return `${/[.e]/.test(text) ? text : `${text}.0`}f`;
}
