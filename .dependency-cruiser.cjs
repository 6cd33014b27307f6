// The rooms and their directions. Rule names are sentences; all are errors.
const S = '^packages/server/src'
const F = `${S}/features`
const C = '^packages/console/src'

/** Features that import no feature. All others may import them. */
const groundFeatures = ['access', 'idempotency', 'projects', 'templates']

/** A feature may import only itself, the listed features, the ground features and deps.ts. */
const featureMayImport = (name, allowed) => ({
  name: allowed.length ? `${name}-may-import-only-${allowed.join('-and-')}` : `${name}-stays-below`,
  severity: 'error',
  from: { path: `${F}/${name}/` },
  to: { path: `${F}/(?!(${[name, ...allowed, ...groundFeatures].join('|')})/|deps\\.ts$)` },
})

/** Each level may import itself and the levels before it. Patterns are paths below the package's `src`. */
const inOrder = (name, order) => {
  const levels = Object.entries(order).map(([level, path]) => ({ level, path: `^packages/${name}/src/(${path})` }))
  return [
    ...levels.slice(0, -1).map(({ level, path }, index) => ({
      name: `in-the-${name}-${level}-imports-nothing-from-above`,
      severity: 'error',
      from: { path },
      to: { path: levels.slice(index + 1).map((above) => above.path) },
    })),
    {
      name: `every-folder-of-the-${name}-has-a-level`,
      severity: 'error',
      from: { path: `^packages/${name}/src/`, pathNot: levels.map(({ path }) => path) },
      to: { path: '.' },
    },
  ]
}

/** Errors, types and options; then one request; then the parts of a run; then the methods; then the entries. */
const sdkOrder = {
  ground: '(?!(index|client)\\.ts$)[^/]+\\.ts$',
  cache: 'cache/',
  transport: 'transport/',
  prompts: 'prompts/',
  tools: 'tools/',
  views: 'views/',
  stream: 'stream/',
  run: 'run/',
  resources: 'resources/',
  client: '(index|client)\\.ts$',
  'entry-of-pages': 'browser/',
  'entry-of-texts': 'render/',
  'further-entries': '(ai|eval|latitude|testing)/',
}

/** The process and its terminal; then the settings; then the context of a command and what commands share. */
const cliOrder = {
  process: '(io|exit-code)\\.ts$',
  terminal: 'terminal/',
  settings: 'settings/',
  context: '(context|command)\\.ts$',
  sync: 'sync/',
  compile: 'compile/',
  ui: 'ui/',
  commands: 'commands/',
  program: '(main|program)\\.ts$',
}

/** Primitives; then the frame of the page; then runs, which the editor shows too; then charts; then screens and their addresses. */
const consoleOrder = {
  ui: 'ui/',
  app: 'app/(?!router\\.tsx$)',
  runs: 'runs/',
  charts: 'charts/',
  editor: 'editor/',
  grid: 'grid/',
  screens: 'screens/',
  router: '(app/router|main)\\.tsx$',
}

/** The files and folders of features/runs, from the ground up: each imports only what is listed before it. */
const floorsOfRuns = [
  ...['run\\.ts', 'ports\\.ts', 'events/', 'run-end\\.ts', 'tools/', 'steps/', 'execute-run\\.ts', 'leases/'],
  ...['supervise-run\\.ts', 'start-run\\.ts', 'queue/', 'run-deps\\.ts'],
]

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      // Generated code is not ours. Built files have cycles: parts that load on demand share files with their loaders.
      from: { pathNot: ['/dist/', '/generated/'] },
      to: { circular: true },
    },

    {
      // A second context makes all code of its process a third slower (ADR 34).
      name: 'the-server-has-one-vm-context',
      severity: 'error',
      from: { path: '^packages/(server|embedded-postgres|template)/src/' },
      to: { path: '^(node:)?vm$' },
    },

    {
      // A checkout is untrusted. Each of these files says which program it starts, and what keeps it from starting
      // another.
      name: 'four-files-of-the-cli-start-programs',
      severity: 'error',
      from: {
        path: '^packages/cli/src/',
        pathNot: ['sync/git/git', 'ui/pager', 'ui/open-browser', 'commands/serve/server-process'].map(
          (file) => `^packages/cli/src/${file}\\.ts$`,
        ),
      },
      to: { path: '^(node:)?child_process$' },
    },

    // the five rooms
    {
      name: 'shared-is-the-floor',
      severity: 'error',
      from: { path: `${S}/shared/` },
      to: { path: [`${S}/(?!shared/)`, '^packages/contract/(?!src/vocabulary/)'] },
    },
    {
      name: 'features-know-no-technology',
      severity: 'error',
      from: { path: `${F}/` },
      to: {
        path: [
          `${S}/(http|wire|adapters)/`,
          `${S}/[^/]+\\.ts$`,
          'node_modules/(express|@prisma|@electric-sql|@ts-rest|openai|@anthropic-ai|ioredis|bullmq|promptl-ai|undici|prom-client|@opentelemetry)',
          '^packages/contract/(?!src/vocabulary/)',
        ],
      },
    },
    {
      name: 'adapters-see-only-ports-and-entities',
      severity: 'error',
      from: { path: `${S}/adapters/` },
      to: { path: [`${S}/(http/|wire/|[^/]+\\.ts$)`, '^packages/contract/(?!src/vocabulary/)'] },
    },
    {
      name: 'adapters-do-not-call-each-other',
      severity: 'error',
      from: { path: `${S}/adapters/([^/]+)/`, pathNot: `${S}/adapters/redis/` },
      to: { path: `${S}/adapters/`, pathNot: `${S}/adapters/$1/` },
    },
    {
      // Each shared adapter extends what a single server keeps in memory.
      name: 'redis-extends-in-process',
      severity: 'error',
      from: { path: `${S}/adapters/redis/` },
      to: { path: `${S}/adapters/`, pathNot: `${S}/adapters/(redis|in-process)/` },
    },
    {
      name: 'wire-sees-only-ports-and-entities',
      severity: 'error',
      from: { path: `${S}/wire/` },
      to: {
        path: [
          `${S}/(http|adapters)/`,
          `${S}/[^/]+\\.ts$`,
          `${S}/features/deps\\.ts$`,
          'node_modules/(express|@ts-rest|@prisma)',
        ],
      },
    },
    {
      name: 'http-never-touches-adapters',
      severity: 'error',
      from: { path: `${S}/http/` },
      to: { path: `${S}/adapters/` },
    },
    {
      name: 'routes-are-siblings',
      severity: 'error',
      from: { path: `${S}/http/routes/` },
      to: { path: `${S}/http/routes/` },
    },
    {
      name: 'only-mount-knows-ts-rest-express',
      severity: 'error',
      from: { path: `${S}/`, pathNot: `${S}/http/mount\\.ts$` },
      to: { path: 'node_modules/@ts-rest/express' },
    },
    {
      name: 'only-compose-and-main-wire',
      severity: 'error',
      from: { path: `${S}/(?!(main|compose|lifecycle|operator-commands|data-files)\\.ts)` },
      to: { path: `${S}/(compose|main|config)\\.ts$` },
    },

    // Loading OpenTelemetry costs memory and start time, so only servers that export traces load it.
    {
      name: 'only-the-tracing-adapter-knows-opentelemetry',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: `${S}/adapters/tracing/` },
      to: { path: 'node_modules/@opentelemetry' },
    },
    {
      name: 'the-tracing-adapter-is-loaded-on-demand',
      severity: 'error',
      from: { path: `${S}/`, pathNot: `${S}/adapters/tracing/` },
      to: { path: `${S}/adapters/tracing/`, dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },

    // Few servers have MCP clients, and the SDK with its schemas costs memory and start time.
    {
      name: 'only-the-mcp-server-knows-the-sdk',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: `${S}/http/mcp/server\\.ts$` },
      to: { path: 'node_modules/@modelcontextprotocol' },
    },
    {
      name: 'the-mcp-server-is-loaded-on-demand',
      severity: 'error',
      from: { path: `${S}/` },
      to: { path: `${S}/http/mcp/server\\.ts$`, dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },

    // the order between features
    ...groundFeatures.map((name) => ({
      name: `${name}-imports-no-feature`,
      severity: 'error',
      from: { path: `${F}/${name}/` },
      to: { path: `${F}/(?!${name}/|deps\\.ts$)` },
    })),
    featureMayImport('sessions', []),
    featureMayImport('providers', []),
    featureMayImport('documents', []),
    featureMayImport('versions', ['documents']),
    featureMayImport('releases', ['versions', 'documents']),
    featureMayImport('runs', ['documents', 'providers']),
    ...floorsOfRuns.slice(0, -1).map((floor, place) => ({
      name: `runs-${floor.replace(/\W.*/, '')}-imports-no-floor-above`,
      severity: 'error',
      from: { path: `${F}/runs/${floor}` },
      to: { path: `${F}/runs/(${floorsOfRuns.slice(place + 1).join('|')})` },
    })),
    {
      name: 'every-file-of-runs-has-a-floor',
      severity: 'error',
      from: { path: `${F}/runs/(?!${floorsOfRuns.join('|')})` },
      to: { path: '.' },
    },
    featureMayImport('checks', ['runs', 'documents', 'providers']),
    featureMayImport('conversations', ['runs', 'documents', 'providers']),
    featureMayImport('evaluations', ['conversations', 'runs', 'documents', 'providers', 'external-logs']),
    featureMayImport('examples', ['documents']),
    featureMayImport('experiments', [
      ...['evaluations', 'examples', 'conversations', 'runs', 'documents', 'providers', 'external-logs'],
    ]),
    featureMayImport('external-logs', ['conversations', 'runs', 'documents', 'providers']),

    // prompts are evaluated by packages/template; promptl-ai is only the oracle of its tests
    {
      name: 'promptl-is-only-for-tests',
      severity: 'error',
      from: { path: '^packages/(server|contract|cli|template|sdk)/src' },
      to: { path: 'node_modules/promptl-ai' },
    },

    {
      name: 'only-the-embedded-database-loads-pglite',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: '^packages/embedded-postgres/' },
      to: { path: 'node_modules/(@electric-sql|pglite-prisma-adapter)' },
    },

    // packages
    {
      name: 'embedded-postgres-stands-alone',
      severity: 'error',
      from: { path: '^packages/embedded-postgres/src' },
      to: {
        path: '.',
        pathNot:
          '^packages/embedded-postgres/src/|(node_modules/|^)(@electric-sql/pglite/|pglite-prisma-adapter/|@prisma/driver-adapter-utils/|tar/)',
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'embedded-postgres-tests-use-their-own-support',
      severity: 'error',
      from: { path: '^packages/embedded-postgres/test' },
      to: { path: '^packages/(?!embedded-postgres/)' },
    },
    {
      name: 'only-the-database-adapter-and-compose-know-the-embedded-database',
      severity: 'error',
      from: {
        path: '^packages/[^/]+/src/',
        pathNot: `^packages/embedded-postgres/|${S}/(adapters/database/|compose\\.ts$)`,
      },
      to: { path: '^packages/embedded-postgres/' },
    },
    {
      name: 'contract-stands-alone',
      severity: 'error',
      from: { path: '^packages/contract/src' },
      to: { path: '^packages/(server|sdk|cli|console)/' },
    },
    {
      name: 'vocabulary-and-routes-are-plain',
      severity: 'error',
      from: { path: '^packages/contract/src/(vocabulary/|routes\\.ts$)' },
      to: { pathNot: '^packages/contract/src/vocabulary/' },
    },
    {
      name: 'clients-take-the-vocabulary-and-the-routes-from-contract',
      severity: 'error',
      from: { path: '^packages/(sdk|cli|console)/src' },
      to: { path: '^packages/contract/', pathNot: '^packages/contract/src/(vocabulary/index|routes)\\.ts$' },
    },
    {
      name: 'sdk-and-console-take-the-vocabulary-as-types',
      severity: 'error',
      // `@stet/sdk/testing` makes the errors of the contract's table.
      from: { path: '^packages/(sdk|console)/src', pathNot: '^packages/sdk/src/testing/errors\\.ts$' },
      to: { path: '^packages/contract/src/vocabulary/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'template-takes-the-vocabulary-as-types',
      severity: 'error',
      from: { path: '^packages/template/src' },
      to: {
        path: '^packages/',
        pathNot: '^packages/template/src/|^packages/contract/src/vocabulary/index\\.ts$',
      },
    },
    {
      name: 'the-vocabulary-is-no-code-for-template',
      severity: 'error',
      from: { path: '^packages/template/src' },
      to: { path: '^packages/contract/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'clients-load-no-zod-and-no-ts-rest',
      severity: 'error',
      from: { path: '^packages/(sdk|cli|console)/src' },
      to: { path: 'node_modules/(zod|@ts-rest)' },
    },
    {
      name: 'sdk-and-console-need-no-node',
      severity: 'error',
      from: { path: '^packages/(sdk|console)/src', pathNot: '^packages/sdk/src/testing/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'sdk-stands-alone',
      severity: 'error',
      from: { path: '^packages/sdk/src' },
      to: { path: '^packages/(server|cli|console)/' },
    },
    {
      name: 'cli-uses-the-sdk-only',
      severity: 'error',
      from: { path: '^packages/cli/src' },
      to: { path: '^packages/server' },
    },
    {
      name: 'only-compile-loads-the-template-engine',
      severity: 'error',
      from: { path: '^packages/cli/src', pathNot: '^packages/cli/src/compile/' },
      to: {
        path: '^packages/template',
        pathNot: '^packages/template/src/(merge|shared)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-questions-load-the-prompt-library',
      severity: 'error',
      from: { path: '^packages/cli/src', pathNot: '^packages/cli/src/terminal/questions\\.ts$' },
      to: { path: 'node_modules/@clack' },
    },

    // the folders of the clients
    ...inOrder('sdk', sdkOrder),
    ...inOrder('cli', cliOrder),
    ...inOrder('console', consoleOrder),
    {
      name: 'console-uses-the-sdk-only',
      severity: 'error',
      // It merges with the rule of the server.
      from: { path: `${C}/` },
      to: {
        path: '^packages/(server|template|cli|embedded-postgres)/',
        pathNot: '^packages/template/src/merge/',
      },
    },
    {
      name: 'a-screen-never-imports-another-screen',
      severity: 'error',
      from: { path: `${C}/screens/([^/]+)/` },
      to: { path: `${C}/screens/`, pathNot: `${C}/screens/$1/` },
    },
    {
      name: 'only-the-editor-loads-codemirror',
      severity: 'error',
      from: { path: `${C}/`, pathNot: `${C}/editor/` },
      to: { path: 'node_modules/@codemirror' },
    },
    {
      name: 'only-the-series-chart-loads-uplot',
      severity: 'error',
      from: { path: `${C}/`, pathNot: `${C}/charts/series-chart\\.tsx$` },
      to: { path: 'node_modules/uplot' },
    },
    {
      name: 'release-code-uses-no-tests-and-no-build-configs',
      severity: 'error',
      from: { path: '^scripts/release/' },
      to: { path: '/test/|\\.test\\.tsx?$|\\.config\\.ts$|^scripts/(build|checks|test)/' },
    },
    {
      name: 'only-checks-use-release-code',
      severity: 'error',
      from: { path: '^(packages|scripts)/', pathNot: '^scripts/(release|checks)/' },
      to: { path: '^scripts/release/' },
    },
    {
      name: 'no-test-code-in-src',
      severity: 'error',
      from: { path: '^packages/[^/]+/src', pathNot: '\\.test\\.tsx?$' },
      to: { path: '(/test/|\\.test\\.tsx?$)' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs'],
      // Without it, imports of workspace packages are not resolved, and no rule about them applies.
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
