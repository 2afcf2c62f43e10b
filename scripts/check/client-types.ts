/** The types of the clients that this server serves unmodified, read with the compiler: which members a request may have and an answer must. */
import { join } from 'node:path';
import ts from 'typescript';

/** A type that a pinned package exports: the package, its file below `resources/`, the name. */
export type TypeName = readonly [client: 'openai' | '@anthropic-ai/sdk', file: string, name: string];

export class ClientTypes {
  readonly #root: string;
  readonly #program: ts.Program;
  readonly checker: ts.TypeChecker;

  /** @param root absolute path of the repository. @param files Those whose types will be asked for. */
  constructor(root: string, files: readonly TypeName[]) {
    this.#root = root;
    this.#program = ts.createProgram([...new Set(files.map((file) => this.#pathOf(file)))], {
      noEmit: true,
      skipLibCheck: true,
      strict: true,
      types: [],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
    });
    this.checker = this.#program.getTypeChecker();
  }

  /** Throws where the package has no such type, since a check that reads nothing finds nothing. */
  get(name: TypeName): ts.Type {
    const file = this.#program.getSourceFile(this.#pathOf(name));
    const module = file && this.checker.getSymbolAtLocation(file);
    const found = module && this.checker.getExportsOfModule(module).find((symbol) => symbol.name === name[2]);
    if (found === undefined) throw new Error(`${name[0]} has no type ${name[2]} in resources/${name[1]}`);
    return this.checker.getDeclaredTypeOfSymbol(found);
  }

  /** Members of an object, without what the compiler adds for undefined and null. */
  members(type: ts.Type): { name: string; type: ts.Type; isOptional: boolean }[] {
    return this.checker.getPropertiesOfType(type).map((symbol) => {
      const declared = this.checker.getTypeOfSymbol(symbol);
      const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0;
      return { name: symbol.name, type: this.checker.getNonNullableType(declared), isOptional };
    });
  }

  /** An object with members of its own: no union, list, map, text or class. */
  isPlainObject(type: ts.Type): boolean {
    const isObject = (type.flags & ts.TypeFlags.Object) !== 0 && !this.checker.isArrayType(type);
    return isObject && this.checker.getIndexInfosOfType(type).length === 0 && type.getCallSignatures().length === 0;
  }

  /** The places at which a value of JSON is not what the type says; members that the type does not have are no fault. */
  faults(value: unknown, type: ts.Type, place = ''): string[] {
    if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return [];
    if (type.isUnion()) return this.#unionFaults(value, type, place);
    if (type.isIntersection()) return this.#intersectionFaults(value, type, place);
    if (type.isLiteral()) return value === type.value ? [] : [`${place} is ${shown(value)}, not ${shown(type.value)}`];
    if ((type.flags & ts.TypeFlags.BooleanLiteral) !== 0)
      return String(value) === this.checker.typeToString(type) ? [] : [`${place} is ${shown(value)}`];
    const primitive = primitives.find(([flags]) => (type.flags & flags) !== 0)?.[1];
    if (primitive !== undefined)
      return primitive(value) ? [] : [`${place} is ${shown(value)}, not ${this.checker.typeToString(type)}`];
    if (this.checker.isArrayType(type)) {
      const [item] = this.checker.getTypeArguments(type as ts.TypeReference);
      if (!Array.isArray(value) || item === undefined) return [`${place} is no list`];
      return value.flatMap((each, i) => this.faults(each, item, `${place}[${i}]`));
    }
    if (typeof value !== 'object' || value === null) return [`${place} is ${shown(value)}, not an object`];
    return this.#objectFaults(value as Record<string, unknown>, type, place);
  }

  #objectFaults(value: Record<string, unknown>, type: ts.Type, place: string): string[] {
    return this.checker.getPropertiesOfType(type).flatMap((symbol) => {
      const declared = this.checker.getTypeOfSymbol(symbol);
      if (declared.getCallSignatures().length > 0) return [];
      const at = place === '' ? symbol.name : `${place}.${symbol.name}`;
      const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0;
      // As the APIs themselves write it: what may be absent is null.
      if (isOptional && (value[symbol.name] ?? null) === null) return [];
      if (value[symbol.name] !== undefined) return this.faults(value[symbol.name], declared, at);
      return [`${at} is missing`];
    });
  }

  /** Of the branches that fit worst, the one that fits best says what is amiss. */
  #unionFaults(value: unknown, type: ts.UnionType, place: string): string[] {
    if (value === undefined && type.types.some((each) => (each.flags & ts.TypeFlags.Undefined) !== 0)) return [];
    const found = type.types.map((each) => this.faults(value, each, place));
    return found.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }

  /** `string & {}` is how the clients write a text beside names that they know. */
  #intersectionFaults(value: unknown, type: ts.IntersectionType, place: string): string[] {
    const isText = type.types.some((each) => (each.flags & ts.TypeFlags.String) !== 0);
    if (isText) return typeof value === 'string' ? [] : [`${place} is ${shown(value)}, not a text`];
    return type.types.flatMap((each) => this.faults(value, each, place));
  }

  #pathOf([client, file]: TypeName): string {
    return join(this.#root, 'node_modules', client, 'resources', `${file}.d.ts`);
  }
}

const primitives: readonly [flags: ts.TypeFlags, fits: (value: unknown) => boolean][] = [
  [ts.TypeFlags.String, (value) => typeof value === 'string'],
  [ts.TypeFlags.Number, (value) => typeof value === 'number'],
  [ts.TypeFlags.Boolean, (value) => typeof value === 'boolean'],
  [ts.TypeFlags.Null, (value) => value === null],
  [ts.TypeFlags.Undefined, (value) => value === undefined],
];

function shown(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 60) ?? 'undefined';
}
