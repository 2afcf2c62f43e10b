/** Who may import whom, as dependency-cruiser rules. Paths are relative to the root of the repository. */
import type { IForbiddenRuleType } from 'dependency-cruiser';
import { MODULE_TIERS as tiers } from '../../ts/server/platform/module/module-names.ts';

const domains = '^ts/server/domains/';
/** Pure code of domains that worker threads run as well. */
const sharedWithWorkers = `${domains}(conversations/(transfer/(import-formats|packed-conversation)|search/terms)|completions/body-readers|inference/media/(decoder-message|request-media|decoding/[a-z-]+)|data/ingest/ingest-body|science/answers/read-answer|retrieval/index/(index-(host|messages)|vector-index)|logs/(index/log-(host|messages)|detection/detection-host)|memory/(files/(directory|filed-memories|memory-file)|forecast/(codebook|model-section|series-steps|slot-model|slot-section|world-model|xlstm)|router/(learned-routes|route-network)))\\.ts$`;
/** Pure to the last: it imports nothing of the server, only itself and packages. */
const extraction = '^ts/server/extraction/';
const tests = '\\.(test|contract)\\.ts$';
const testSupport = '(^|/)test-support/';

/** What a worker thread loads, directly or through others, must not open addons, databases or sockets. Types are not loaded. */
export const pureCode = {
  name: 'code-shared-with-workers-is-pure',
  from: new RegExp(sharedWithWorkers),
  to: /^ts\/server\/(native\/(load|llama)\.ts$|platform\/(storage|http\/exchange\.ts)|main\.ts$)/,
};

/** One rule a tier: its modules see no module of their own tier or above. `$1` is the importing module itself. */
const tierRules: IForbiddenRuleType[] = tiers.map((modules, tier) => ({
  name: `tier-${tier + 1}-imports-only-lower-tiers`,
  severity: 'error',
  from: { path: `${domains}(${modules.join('|')})/` },
  to: { path: `${domains}(${tiers.slice(tier).flat().join('|')})/`, pathNot: `${domains}$1/` },
}));

export const importRules: IForbiddenRuleType[] = [
  ...tierRules,
  {
    // Pure code is entered by its file: an index would load the module's wiring into worker threads.
    name: 'modules-meet-at-index',
    severity: 'error',
    from: { path: `${domains}([^/]+)/` },
    to: { path: domains, pathNot: [`${domains}($1/|[^/]+/index\\.ts$)`, testSupport, sharedWithWorkers] },
  },
  {
    // The model library is a binding of its own: `svc models` works on the folder without a server.
    name: 'main-enters-modules-through-index',
    severity: 'error',
    from: { path: '^ts/(server/[^/]+\\.ts$|cli/)', pathNot: tests },
    to: { path: domains, pathNot: `${domains}([^/]+/index\\.ts$|inference/library/)` },
  },
  {
    name: 'every-module-has-a-tier',
    severity: 'error',
    from: { path: domains, pathNot: `${domains}(${tiers.flat().join('|')})/` },
    to: {},
  },
  {
    name: 'lower-floors-know-no-domain',
    severity: 'error',
    from: { path: '^ts/(server/(platform|native)|workers)/' },
    to: { path: '^ts/(server/(domains/|main\\.ts$)|cli/)', pathNot: sharedWithWorkers },
  },
  {
    name: 'platform-and-native-know-no-domain',
    severity: 'error',
    from: { path: '^ts/server/(platform|native)/' },
    to: { path: domains },
  },
  {
    name: 'extraction-imports-nothing-of-the-server',
    severity: 'error',
    from: { path: extraction, pathNot: `${tests}|${testSupport}` },
    to: { path: '^ts/', pathNot: extraction },
  },
  {
    name: 'only-main-and-cli-know-main',
    severity: 'error',
    from: { path: '^ts/', pathNot: `^ts/(cli/|server/[^/]+\\.ts$)|${tests}` },
    to: { path: '^ts/server/main\\.ts$' },
  },
  {
    name: 'only-exchange-imports-uwebsockets',
    severity: 'error',
    from: { path: '^(ts|models|scripts)/', pathNot: '^ts/server/platform/http/exchange\\.ts$' },
    to: { path: '(^|/)(uWebSockets\\.js|@uwsjs/core)(/|$)' },
  },
  {
    name: 'product-imports-no-tooling',
    severity: 'error',
    from: { path: '^ts/', pathNot: `${tests}|${testSupport}` },
    to: { path: `^(test|bench|scripts)/|${tests}` },
  },
  {
    name: 'test-support-is-for-tests',
    severity: 'error',
    // All of test/ and native/*/test is tests.
    // So are evaluations, a bench of a module without a server, and what runs the tests: no package ships them.
    from: {
      path: '^(ts|scripts|models|bench)/',
      pathNot: `${tests}|${testSupport}|^models/eval/|^bench/memory/|^scripts/tests/`,
    },
    to: { path: testSupport },
  },
  {
    // The pages are built: nothing that they import is needed where they are served.
    name: 'product-needs-no-dev-dependency',
    severity: 'error',
    from: { path: '^ts/', pathNot: `^ts/web/|${tests}|${testSupport}|\\.d\\.ts$` },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    // Browsers and the command line both load it.
    name: 'client-knows-nobody',
    severity: 'error',
    from: { path: '^ts/client/', pathNot: tests },
    to: { path: '^(ts|node:|node_modules)', pathNot: '^ts/client/' },
  },
  {
    name: 'pages-talk-http',
    severity: 'error',
    from: { path: '^ts/web/' },
    to: { path: '^ts/(server|cli|workers)/' },
  },
  {
    name: 'nobody-imports-pages',
    severity: 'error',
    from: { path: '^ts/(server|cli|workers)/' },
    to: { path: '^ts/web/' },
  },
  {
    name: 'no-cycle',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
];
