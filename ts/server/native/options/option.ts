/**
 * What one option of the engine is. Each table of options is read by several: the C++ structs and their reader are generated from
 * it (`npm run options`), and the types of the binding, the schemas of HTTP members and the settings of svc.toml are made of it.
 */

interface Common {
  /** One sentence, for the API's documentation, `svc.toml` and docs/reference. */
  help: string;
  /** Name in C++; else the option's own in snake_case. */
  native?: string;
  /** Member of a request's body. Bounds are the option's own unless they are named. */
  wire?: { name: string; minimum?: number; maximum?: number /** What -1 stands for. */; minusOne?: number };
  /** Key in svc.toml. */
  setting?: string;
  /** A model's section of svc.toml may set it too, by the last part of its key. */
  perModel?: boolean;
  /** The same in llama-server's command line. */
  flags?: readonly string[];
}

interface IntegerOption extends Common {
  kind: 'integer';
  type: 'int32_t' | 'uint32_t' | 'int64_t' | 'uint64_t';
  minimum: number;
  maximum: number;
  /** Without one, C++ has a std::optional. */
  default?: number;
  /** What svc.toml says where it says nothing, if that differs. */
  settingDefault?: number;
  /** Key below general.sampling in a model's file that sets it where a request does not. */
  metadata?: string;
}

interface NumberOption extends Common {
  kind: 'number';
  minimum: number;
  maximum: number;
  default: number;
  metadata?: string;
}

interface BooleanOption extends Common {
  kind: 'boolean';
  /** Without one, C++ has a std::optional, and svc.toml the words auto, on and off. */
  default?: boolean;
}

/** One of some words; each stands for a C++ constant. */
interface ChoiceOption extends Common {
  kind: 'choice';
  type: string;
  choices: Readonly<Record<string, string>>;
  default: string;
}

/** Several of these words, in an order. */
interface ChoicesOption extends Common {
  kind: 'choices';
  type: string;
  choices: Readonly<Record<string, string>>;
  default: readonly string[];
}

interface TextOption extends Common {
  kind: 'text';
}

/** In svc.toml: one text with commas. */
interface TextsOption extends Common {
  kind: 'texts';
  most: number;
  /** Of each, in UTF-8. */
  mostBytes: number;
  default?: readonly string[];
  /** What one of them looks like in svc.toml; no anchors, no commas. */
  pattern?: string;
}

/** In svc.toml: one text with commas. */
interface NumbersOption extends Common {
  kind: 'numbers';
  most: number;
  minimum: number;
  maximum: number;
}

export type Option =
  | IntegerOption
  | NumberOption
  | BooleanOption
  | ChoiceOption
  | ChoicesOption
  | TextOption
  | TextsOption
  | NumbersOption;

export type OptionTable = Readonly<Record<string, Option>>;

export type OptionValue<O> = O extends { kind: 'integer' | 'number' }
  ? number
  : O extends { kind: 'boolean' }
    ? boolean
    : O extends { kind: 'choice'; choices: infer C }
      ? keyof C & string
      : O extends { kind: 'choices'; choices: infer C }
        ? (keyof C & string)[]
        : O extends { kind: 'text' }
          ? string
          : O extends { kind: 'texts' }
            ? string[]
            : O extends { kind: 'numbers' }
              ? number[]
              : never;

/** What JS hands over: every member may be absent, and has its default then. */
export type OptionValues<T> = { -readonly [K in keyof T]?: OptionValue<T[K]> };

/** topK -> top_k */
export function nativeName(key: string, { native }: Option): string {
  return native ?? key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
