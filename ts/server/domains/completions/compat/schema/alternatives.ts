/** The ways in which the schemas of one place can hold together: references, `allOf`, alternatives, conditions and negations. */
import type { Members } from '../members.ts';
import { fewValues, formFault, isAnnotation, isObject, otherTypes } from './forms.ts';
import { dependencies, type Evaluator, Undecided } from './satisfies.ts';
import { type LeaveOut, type Raw, type SchemaDocument, UnusableSchema } from './schema-document.ts';

/** Schemas that hold at once and have no choices left, or the few values that are left. */
export type Alternative = { members: readonly Members[] } | { values: readonly unknown[] };

interface Choice {
  owner: Members;
  keyword: string;
  options: readonly (readonly Raw[])[];
  /** One alone may hold. */
  isExclusive: boolean;
}

const maxExpansions = 50_000;
const maxAlternatives = 200;
const maxDepth = 200;
/** Of a oneOf, whose pairs are compared. */
const maxOptions = 32;

interface AlternativesDeps {
  document: SchemaDocument;
  evaluator: Evaluator;
  leaveOut: LeaveOut;
  /** Whether these cannot hold beside the members, which have no choices left. */
  isImpossible: (schemas: readonly Raw[], members: readonly Members[]) => boolean;
}

export class Alternatives {
  readonly #document: SchemaDocument;
  readonly #evaluator: Evaluator;
  readonly #leaveOut: LeaveOut;
  readonly #isImpossible: AlternativesDeps['isImpossible'];
  /** Whether what a schema says of the same value has been looked through; false while it is. */
  readonly #isLoopFree = new Map<Members, boolean>();
  #nExpansions = 0;

  constructor({ document, evaluator, leaveOut, isImpossible }: AlternativesDeps) {
    this.#document = document;
    this.#evaluator = evaluator;
    this.#leaveOut = leaveOut;
    this.#isImpossible = isImpossible;
  }

  /** Every way in which they can hold together. */
  expand(todo: readonly Raw[], done: readonly Members[] = [], choices: readonly Choice[] = []): Alternative[] {
    const members = [...done];
    const open = [...choices];
    const waiting = [...todo];
    for (let schema = waiting.shift(); schema !== undefined; schema = waiting.shift()) {
      if (++this.#nExpansions > maxExpansions) throw new UnusableSchema('its alternatives have too many combinations');
      if (schema === false) return [];
      if (schema === true || members.includes(schema)) continue;
      this.#refuseLoops(schema);
      if (schema['$ref'] !== undefined) {
        const target = this.#document.target(schema);
        if (target === undefined) this.#leaveOut(schema, '$ref');
        else waiting.push(target);
      }
      const fault = formFault(schema);
      if (fault !== undefined) throw new UnusableSchema(`${fault} at ${this.#document.pointerOf(schema)}`);
      members.push(schema);
      const { allOf } = schema;
      if (Array.isArray(allOf))
        for (const [index, sub] of allOf.entries()) waiting.push(this.#document.child(schema, sub, 'allOf', index));
      open.push(...this.#choicesOf(schema));
    }
    const values = this.#valuesOf(members);
    if (values) return [{ values }];
    return this.#choose(members, this.#fewest(open));
  }

  /** As many choices as have a bounded number of combinations. */
  #fewest(choices: readonly Choice[]): readonly Choice[] {
    let nCombinations = 1;
    return choices.filter(({ owner, keyword, options }) => {
      if (nCombinations * options.length > maxAlternatives) {
        this.#leaveOut(owner, keyword);
        return false;
      }
      nCombinations *= options.length;
      return true;
    });
  }

  /** A schema that comes back to itself before it has said anything of a part of the value never ends. */
  #refuseLoops(schema: unknown, depth = 0): void {
    if (!isObject(schema) || this.#isLoopFree.get(schema)) return;
    const { $ref, not } = schema;
    if (this.#isLoopFree.get(schema) === false || depth > maxDepth)
      throw new UnusableSchema(`the reference ${String($ref ?? '#')} leads to itself and to nothing else`);
    this.#isLoopFree.set(schema, false);
    const target = $ref === undefined ? undefined : this.#document.target(schema);
    const lists = [schema['allOf'], schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []));
    const branches = [not, schema['if'], schema['then'], schema['else']];
    const needed = dependencies(schema).flatMap(([, each]) => (Array.isArray(each) ? [] : [each]));
    for (const each of [target, ...lists, ...branches, ...needed]) this.#refuseLoops(each, depth + 1);
    this.#isLoopFree.set(schema, true);
  }

  #choose(members: readonly Members[], choices: readonly Choice[]): Alternative[] {
    if (++this.#nExpansions > maxExpansions) throw new UnusableSchema('its alternatives have too many combinations');
    const [choice, ...others] = choices;
    if (!choice) {
      this.#leaveOutUnchosen(members);
      return [{ members }];
    }
    if (choice.isExclusive && !this.#excludeEachOther(members, choice)) this.#leaveOut(choice.owner, choice.keyword);
    const found: Alternative[] = [];
    for (const option of choice.options) {
      found.push(...this.expand(option, members, others));
      if (found.length <= maxAlternatives) continue;
      this.#leaveOut(choice.owner, choice.keyword);
      return this.#choose(members, others);
    }
    return found;
  }

  /** What has no alternatives that are known here. */
  #leaveOutUnchosen(members: readonly Members[]): void {
    for (const schema of members) {
      for (const keyword of ['$dynamicRef', '$recursiveRef']) if (schema[keyword] !== undefined) this.#leaveOut(schema, keyword);
      if (schema['not'] !== undefined && !this.#negate(this.#document.child(schema, schema['not'], 'not'), schema, 'not'))
        this.#leaveOut(schema, 'not');
      const { if: condition } = schema;
      if (condition === undefined || (schema['then'] === undefined && schema['else'] === undefined)) continue;
      if (!this.#negate(this.#document.child(schema, condition, 'if'), schema, 'if')) this.#leaveOut(schema, 'if');
    }
  }

  #choicesOf(schema: Members): Choice[] {
    const choices: Choice[] = [];
    const add = (keyword: string, options: readonly (readonly Raw[])[], isExclusive = false) =>
      choices.push({ owner: schema, keyword, options, isExclusive });
    for (const keyword of ['anyOf', 'oneOf']) {
      const list = schema[keyword];
      if (!Array.isArray(list)) continue;
      add(
        keyword,
        list.map((sub, index) => [this.#document.child(schema, sub, keyword, index)]),
        keyword === 'oneOf',
      );
    }
    if (schema['not'] !== undefined) {
      const options = this.#negate(this.#document.child(schema, schema['not'], 'not'), schema, 'not');
      if (options) add('not', options);
    }
    const branches = this.#branchesOf(schema);
    if (branches) add('if', branches);
    for (const [name, needed] of dependencies(schema)) {
      const isNames = Array.isArray(needed);
      const keyword = Object.hasOwn(schema, 'dependencies') ? 'dependencies' : isNames ? 'dependentRequired' : 'dependentSchemas';
      const absent = this.#document.make({ properties: { [name]: false } }, schema, keyword);
      const present = this.#document.make({ required: isNames ? [name, ...needed] : [name] }, schema, keyword);
      add(keyword, [[absent], isNames ? [present] : [present, this.#document.child(schema, needed, keyword, name)]]);
    }
    return choices;
  }

  #branchesOf(schema: Members): Raw[][] | undefined {
    if (schema['if'] === undefined || (schema['then'] === undefined && schema['else'] === undefined)) return undefined;
    const condition = this.#document.child(schema, schema['if'], 'if');
    const negations = this.#negate(condition, schema, 'if');
    if (!negations) return undefined;
    const branch = (keyword: string) =>
      schema[keyword] === undefined ? true : this.#document.child(schema, schema[keyword], keyword);
    return [[condition, branch('then')], ...negations.map((negation) => [...negation, branch('else')])];
  }

  /** The alternatives that hold where the schema does not; undefined where these words cannot say it. */
  #negate(schema: Raw, owner: Members, by: string): Raw[][] | undefined {
    if (typeof schema === 'boolean') return schema ? [] : [[true]];
    const made = (members: Members) => this.#document.make(members, owner, by);
    const parts: Raw[][] = [];
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === 'type') {
        const types = otherTypes(value);
        if (!types) return undefined;
        if (types.length > 0) parts.push([made({ type: types })]);
      } else if (keyword === 'required' && Array.isArray(value)) {
        parts.push(...value.map((name) => [made({ type: 'object', properties: { [String(name)]: false } })]));
      } else if (keyword === 'properties' && isObject(value)) {
        for (const [name, sub] of Object.entries(value)) {
          const child = this.#document.child(schema, sub, 'properties', name);
          const not = child === true ? false : child === false ? true : made({ not: child });
          if (not !== false) parts.push([made({ type: 'object', properties: { [name]: not }, required: [name] })]);
        }
      } else if (keyword === 'not' && !this.#document.hasUnevaluated) {
        parts.push([this.#document.child(schema, value, 'not')]);
      } else if (!isAnnotation(keyword)) {
        return undefined;
      }
    }
    return parts;
  }

  /** Whether no two can hold at once, beside all that holds but the choice itself. */
  #excludeEachOther(members: readonly Members[], { owner, options }: Choice): boolean {
    if (options.length > maxOptions) return false;
    const { oneOf: _, ...rest } = owner;
    const beside = [...members.filter((schema) => schema !== owner), this.#document.make(rest, owner, 'oneOf')];
    try {
      return options.every((a, index) => options.slice(0, index).every((b) => this.#isImpossible([...a, ...b], beside)));
    } catch (error) {
      if (error instanceof UnusableSchema) return false;
      throw error;
    }
  }

  /** The few values that a place has; undefined where they are not listed. */
  #valuesOf(members: readonly Members[]): unknown[] | undefined {
    const lists = members.flatMap((schema) => [
      ...(Object.hasOwn(schema, 'const') ? [[schema['const']]] : []),
      ...(Array.isArray(schema['enum']) ? [schema['enum'] as unknown[]] : []),
    ]);
    const candidates = lists.length > 0 ? lists.reduce((a, b) => (a.length <= b.length ? a : b)) : fewValues(members);
    return candidates?.filter((value) => members.every((schema) => this.#satisfies(value, schema)));
  }

  #satisfies(value: unknown, schema: Members): boolean {
    try {
      return this.#evaluator.satisfies(value, schema);
    } catch (error) {
      if (!(error instanceof Undecided)) throw error;
      this.#leaveOut(schema, error.keyword);
      return true;
    }
  }
}
