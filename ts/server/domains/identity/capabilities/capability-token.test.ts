/** What tokens say, against the library itself: nothing that is appended to a token can make it do more. */
import fc from 'fast-check';
import t from 'tap';
import { scriptedKinds } from '../../../platform/module/test-support/scripted-context.ts';
import { loadBiscuit } from './biscuit.ts';
import { MAX_BLOCKS, MAX_TOKEN_LENGTH } from './capability-limits.ts';
import { deriveToken, newKeyPair, signToken, verifyToken } from './capability-token.ts';
import { readEnvelope } from './envelope.ts';
import { checksOf as checksFor, listsOf, predicatesOf, type Restrictions, restrictionTo } from './restrictions.ts';

const library = await loadBiscuit();
const pair = await newKeyPair();
const key = { number: 4_294_967_295, privateKey: pair.privateKey };
const facts = { tenant: 'red', user: 'usr_a', capability: 'cap_a' };
const end = Math.ceil(Date.now() / 1000 + 3600) * 1000;
const scopes = ['chat:use', 'embeddings:use', 'models:read', 'knowledge:read'];
const names = ['a', 'tiny chat.Q4_0', 'größe/7b', '字', "it's", 'a], b'];

const publicKey = library.PublicKey.fromString(pair.publicKey, library.SignatureAlgorithm.Ed25519);
const bytesOf = (text: string): Uint8Array => readEnvelope(text)?.bytes ?? new Uint8Array();
const predicates = predicatesOf(scriptedKinds);
const checksOf = (restrictions: Restrictions) => checksFor(predicates, restrictions);
const verify = (text: string) => verifyToken(predicates, bytesOf(text), pair.publicKey);
/** Every token that is issued has scopes and an end. */
const sign = (given: Restrictions) =>
  signToken(predicates, facts, { ...given, scopes: given.scopes ?? scopes, expiresAt: given.expiresAt ?? end }, key);

/** As a holder derives with the library, without this service. */
function append(text: string, datalog: string): string {
  const block = library.Biscuit.block_builder();
  block.addCode(datalog);
  return library.Biscuit.fromBytes(bytesOf(text), publicKey).appendBlock(block).toBase64();
}

/** Biscuit's own answer to one use. */
function allows(text: string, facts: string): boolean {
  const builder = new library.AuthorizerBuilder();
  builder.addCode(`${facts} time(${new Date().toISOString().slice(0, 19)}Z); allow if true;`);
  try {
    builder.buildAuthenticated(library.Biscuit.fromBytes(bytesOf(text), publicKey)).authorizeWithLimits({
      max_facts: 1000,
      max_iterations: 100,
      max_time_micro: 5_000_000,
    });
    return true;
  } catch {
    return false;
  }
}

/** Of the CPU, which others on the machine take nothing of; the least of some rounds, since the compiler's threads take of it at times. */
async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  await work();
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 5; round += 1) {
    const before = process.cpuUsage();
    for (let n = 0; n < 10; n += 1) await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 10_000);
  }
  return least;
}

const some = (from: readonly string[]) => fc.option(fc.subarray([...from]), { nil: undefined });
const restrictions: fc.Arbitrary<Restrictions> = fc.record({
  scopes: some(scopes),
  uses: fc.record({ models: some(names), namespaces: some(names) }),
  expiresAt: fc.option(
    fc.integer({ min: -3, max: 7200 }).map((seconds) => end + seconds * 1000),
    { nil: undefined },
  ),
});

const isWithin = (inner: readonly string[] | undefined, outer: readonly string[] | undefined): boolean =>
  outer === undefined || (inner?.every((name) => outer.includes(name)) ?? false);

t.test('a derived token never does more than its parent, however often it is derived and by whom', async (t) => {
  await fc.assert(
    fc.asyncProperty(restrictions, fc.array(fc.tuple(restrictions, fc.boolean()), { maxLength: 5 }), async (first, more) => {
      let { text } = await sign(first);
      let parent = await verify(text);
      for (const [narrower, isOffline] of more) {
        text = isOffline
          ? append(text, checksOf(narrower))
          : (await deriveToken(predicates, bytesOf(text), pair.publicKey, narrower)).text;
        const child = await verify(text);
        if (typeof child === 'string' || typeof parent === 'string') throw new Error(`refused: ${child}`);
        const [mine, above, asked] = [child.restrictions, parent.restrictions, narrower].map(listsOf);
        for (const list of predicates.keys()) {
          if (!isWithin(mine?.[list], above?.[list])) throw new Error(`${list} got wider`);
          if (!isWithin(mine?.[list], asked?.[list])) throw new Error(`${list} are not what was asked`);
        }
        if (child.restrictions.expiresAt > parent.restrictions.expiresAt) throw new Error('lives longer');
        if (!parent.revocationIds.every((id, i) => child.revocationIds[i] === id)) throw new Error('a parent is forgotten');
        parent = child;
      }
    }),
    { numRuns: 40 },
  );
  t.pass();
});

t.test('what is read of a token is what Biscuit itself decides', async (t) => {
  await fc.assert(
    fc.asyncProperty(restrictions, restrictions, async (first, second) => {
      const text = append((await sign(first)).text, checksOf({ ...second, expiresAt: undefined }));
      const read = await verify(text);
      if (typeof read === 'string') throw new Error(read);
      const { restrictions: all } = read;
      const { models, namespaces } = all.uses as { models?: string[]; namespaces?: string[] };
      const use = { scope: all.scopes[0], model: (models ?? names)[0], namespace: (namespaces ?? names)[0] };
      const choices = { scope: scopes, model: names, namespace: names } as const;
      const lists = { scope: all.scopes, model: models, namespace: namespaces } as const;
      for (const predicate of ['scope', 'model', 'namespace'] as const) {
        for (const name of choices[predicate]) {
          const asked = { ...use, [predicate]: name };
          const list = lists[predicate];
          const others = Object.entries(lists).every(
            ([other, names]) => other === predicate || names === undefined || names.length > 0,
          );
          const isRead = others && (list === undefined || list.includes(name)) && all.expiresAt > Date.now() + 1000;
          const datalog = Object.entries(asked)
            .map(([key, value]) => `${key}("${value ?? 'none'}");`)
            .join(' ');
          if (allows(text, datalog) !== isRead) throw new Error(`${datalog}: ${!isRead} for Biscuit`);
        }
      }
    }),
    { numRuns: 15 },
  );
  t.pass();
});

t.test('checks in the forms that libraries write', async (t) => {
  const { text } = await sign({});
  const cases: [datalog: string, read: object][] = [
    ['check if scope($s), ["chat:use", "admin"].contains($s)', { scopes: ['chat:use'] }],
    ['check if scope($any_name), {"chat:use"}.contains($any_name)', { scopes: ['chat:use'] }],
    ['check if scope("chat:use") or scope("models:read")', { scopes: ['chat:use', 'models:read'] }],
    ['check if model($m), $m == "a"', { uses: { models: ['a'] } }],
    ['check if namespace($n), $n === "a"; check if model("b")', { uses: { namespaces: ['a'], models: ['b'] } }],
    ['check if model($m), [].contains($m)', { uses: { models: [] } }],
    ['check if model($m), {,}.contains($m)', { uses: { models: [] } }],
    ['check if time($t), $t < 2026-01-01T00:00:00Z', { expiresAt: Date.parse('2026-01-01T00:00:00Z') }],
    ['check if time($t), $t <= 2096-01-01T00:00:00Z', { expiresAt: end }],
  ];
  for (const [datalog, read] of cases) t.match(await verify(append(text, datalog)), { restrictions: read }, datalog);
});

t.test('whatever else a holder appends is refused, and nothing of it is evaluated', async (t) => {
  const { text } = await sign(restrictionTo({ models: ['a'] }));
  const hostile = [
    'scope("admin")',
    'user("usr_root")',
    'scope($s) <- user($s)',
    'n(0); n(1); check if n($a), n($b), n($c), n($d), $a + $b > 5',
    'check if true',
    'check if 1 / 0 == 1',
    'check if "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("(a+)+$")',
    'check all model($m), ["a"].contains($m)',
    'reject if model("b")',
    'check if model($m), $m.starts_with("a")',
    'check if model($m), ["a"].contains($n), user($n)',
    'check if model($m), !["a"].contains($m)',
    'check if model($m), ["a", 1].contains($m)',
    'check if model($m), ["a", "b"].contains("a")',
    'check if model($m), [["a"]].contains($m)',
    'check if scope("chat:use") or model("a")',
    'check if tool($t), ["a"].contains($t)',
    'check if time("a")',
    'check if tenant($t), $t == "red"',
    'check if time($t), $t >= 2026-01-01T00:00:00Z',
    'check if time($t), $t <= 2096-01-01T00:00:00Z trusting authority',
    'check if model("a") trusting previous',
    'check if model("x\\"), model(\\"y")',
    'check if model("x\ny")',
    'check if model("x\\\\")',
  ];
  for (const datalog of hostile) t.equal(await verify(append(text, datalog)), 'bad_encoding', datalog);
});

t.test('every changed bit, every cut and every foreign key is refused', async (t) => {
  const { text } = await sign({});
  const derived = append(text, 'check if model("a")');
  const bytes = Buffer.from(bytesOf(derived));
  const outcomes = new Set<string>();
  const meant = JSON.stringify(await verify(derived));
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    const envelope = readEnvelope(changed.toString('base64url'));
    if (envelope === undefined || envelope.keyNumber !== key.number) continue;
    const outcome = await verifyToken(predicates, envelope.bytes, pair.publicKey);
    // The tag of a member that says the same when it is left out can be changed: the token means what it meant, and is revoked with it.
    if (typeof outcome === 'string') outcomes.add(outcome);
    else if (JSON.stringify(outcome) !== meant) outcomes.add(`means something else with bit ${bit} changed`);
  }
  t.strictSame([...outcomes].sort(), ['bad_encoding', 'bad_signature']);
  for (const length of [1, 60, bytes.length - 64, bytes.length - 1]) {
    const cut = readEnvelope(bytes.subarray(0, length).toString('base64url'));
    t.ok(cut === undefined || typeof (await verifyToken(predicates, cut.bytes, pair.publicKey)) === 'string', `${length} bytes`);
  }
  t.equal(await verifyToken(predicates, bytes, (await newKeyPair()).publicKey), 'bad_signature');
  const begun = await verify(text);
  const last = await verify(derived);
  t.ok(typeof begun === 'object' && typeof last === 'object' && last.revocationIds[0] === begun.revocationIds[0]);
});

t.test('the envelope is read before anything else, and bounded', async (t) => {
  const { text } = await sign({});
  t.match(readEnvelope(text), { keyNumber: key.number, nBlocks: 1 });
  t.match(readEnvelope(text.slice('svcc_'.length)), { nBlocks: 1 }, 'as the library writes it');
  let derived = text;
  for (let n = 1; n < MAX_BLOCKS; n += 1) derived = append(derived, 'check if model("a")');
  t.match(readEnvelope(derived), { nBlocks: MAX_BLOCKS });
  t.equal(readEnvelope(append(derived, 'check if model("a")')), undefined, 'one block too many');
  for (const wrong of [
    '',
    'svcc_',
    'x',
    `${text}!`,
    `svcc_${'A'.repeat(500)}`,
    'A'.repeat(MAX_TOKEN_LENGTH + 1),
    `${text}AAAA`,
  ]) {
    t.equal(readEnvelope(wrong), undefined, wrong.slice(0, 20));
  }
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 50, maxLength: 400 }), async (bytes) => {
      const envelope = readEnvelope(Buffer.from(bytes).toString('base64url'));
      return envelope === undefined || typeof (await verifyToken(predicates, envelope.bytes, pair.publicKey)) === 'string';
    }),
  );
});

t.test('a long name that a small token repeats is read quickly, and refused', async (t) => {
  const { text } = await sign({});
  const list = (name: string, n: number) =>
    `check if model($m), [${Array.from({ length: n }, () => `"${name}"`).join(', ')}].contains($m)`;
  t.match(await verify(append(text, list('a', 32))), { user: 'usr_a' });
  t.equal(await verify(append(text, list('a', 33))), 'bad_encoding');
  t.equal(await verify(append(text, list('a'.repeat(201), 1))), 'bad_encoding');
  const anyOf = Array.from({ length: 33 }, () => 'model("a")').join(' or ');
  t.equal(await verify(append(text, `check if ${anyOf}`)), 'bad_encoding');
  const large = append(text, list(`${'a'.repeat(2_500)}b`, 250));
  t.ok(large.length < MAX_TOKEN_LENGTH, `${large.length} characters`);
  const readAgain = async (): Promise<unknown> => readEnvelope(large) && verify(large);
  t.equal(await readAgain(), undefined, 'the envelope is refused already');
  const ms = await cpuMsOf(readAgain);
  t.comment(`${ms.toFixed(1)} ms`);
  t.ok(ms < 5, `${ms} ms`);
});

t.test('a sealed token works and cannot be derived from', async (t) => {
  const { text } = await sign({});
  const sealed = library.Biscuit.fromBytes(bytesOf(text), publicKey).sealToken().toBase64();
  t.match(await verify(sealed), { user: 'usr_a' });
  await t.rejects(deriveToken(predicates, bytesOf(sealed), pair.publicKey, restrictionTo({ models: ['a'] })));
});

t.test('the largest token that is taken is read in bounded time', async (t) => {
  const list = Array.from({ length: 32 }, (_, i) => `${i}-${'x'.repeat(30)}`);
  let { text } = await sign(restrictionTo({ models: list }));
  while (true) {
    const next = append(text, checksOf(restrictionTo({ models: list, namespaces: list.slice(0, 4) })));
    if (next.length > MAX_TOKEN_LENGTH || (readEnvelope(next)?.nBlocks ?? 99) > MAX_BLOCKS) break;
    text = next;
  }
  await verify(text);
  const ms = await cpuMsOf(async () => t.match(await verify(text), { user: 'usr_a' }));
  t.comment(`${text.length} characters: ${ms.toFixed(1)} ms`);
  t.ok(ms < 100, `${ms} ms`);
});

t.test(
  'a kind of things that a module registers can be limited, and cannot take the name of what tokens say anyway',
  async (t) => {
    const kind = { name: 'tools', one: 'tool', labels: ['tool', 'tools'] as const, example: '' };
    const withTools = predicatesOf([kind]);
    const { text } = await signToken(withTools, facts, { scopes, uses: { tools: ['a', 'b'] }, expiresAt: end }, key);
    const derived = append(text, 'check if tool($t), ["b", "c"].contains($t)');
    t.match(await verifyToken(withTools, bytesOf(derived), pair.publicKey), { restrictions: { uses: { tools: ['b'] } } });
    t.equal(await verify(derived), 'bad_encoding', 'a node without the module refuses it, since it could not hold to the limit');
    for (const taken of ['time', 'user', 'scopes', 'a b']) {
      t.throws(() => predicatesOf([{ ...kind, one: taken }]), /cannot be called/, taken);
      t.throws(() => predicatesOf([{ ...kind, name: taken }]), /cannot be called/, taken);
    }
  },
);
