import { fileURLToPath } from 'node:url'
import { defineConfig } from 'tsdown'
import { bundledLicenses } from '../../scripts/build/bundled-licenses.ts'

// One file for the settings, which each command loads whole, for the small commands of a group, and for what pushes and
// pulls, because each file repeats its imports.
const groups = [
  {
    name: 'workspace',
    test: /src.sync.(workspace|apply|compare|send|git|merge|moves)|src.commands.(push|pull|publish)/,
  },
  { name: 'settings', test: /src.settings.(?!latitude|glob)|template.src.shared/ },
  ...['keys', 'versions', 'providers', 'projects', 'runs', 'conversations'].map((name) => ({
    name,
    test: new RegExp(`src.commands.${name}.[^/]+$`),
  })),
]

/** The SDK contains the prompt engine. The sources import it from its own package, which has its types. */
const installedEngine = {
  name: 'installed-engine',
  resolveId: {
    order: 'pre' as const,
    filter: { id: /^@stet\/template(\/answer-schema)?$/ },
    handler: () => ({ id: '@stet/sdk/prompt-scan', external: true }),
  },
}

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  clean: true,
  sourcemap: false,
  minify: true,
  plugins: [installedEngine, bundledLicenses(fileURLToPath(new URL('.', import.meta.url)))],
  deps: {
    onlyBundle: ['csv-parse', 'diff', 'picomatch', '@handlebars/parser'],
  },
  // The package does not say that its unused kinds of diffs can be left out.
  treeshake: { moduleSideEffects: [{ test: /\/node_modules\/diff\//, sideEffects: false }] },
  // No hashes: nothing caches these files by name, and the names are part of every import.
  outputOptions: { chunkFileNames: '[name].mjs', codeSplitting: { groups, includeDependenciesRecursively: false } },
  inputOptions: { preserveEntrySignatures: false },
})
