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
  ...['keys', 'versions', 'providers', 'projects', 'conversations'].map((name) => ({
    name,
    test: new RegExp(`src.commands.${name}.[^/]+$`),
  })),
]

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  dts: false,
  clean: true,
  sourcemap: false,
  // The prompt language is bundled into a separate chunk that only compiling commands load. Most of its size are the
  // parsers of expressions and of YAML (acorn, yaml), which stay dependencies.
  minify: true,
  plugins: [bundledLicenses(fileURLToPath(new URL('.', import.meta.url)))],
  deps: {
    onlyBundle: ['@cfworker/json-schema', 'entities', 'diff', 'picomatch', '@handlebars/parser'],
  },
  // The package does not say that its unused kinds of diffs can be left out.
  treeshake: { moduleSideEffects: [{ test: /\/node_modules\/diff\//, sideEffects: false }] },
  // No hashes: nothing caches these files by name, and the names are part of every import.
  outputOptions: { chunkFileNames: '[name].mjs', codeSplitting: { groups, includeDependenciesRecursively: false } },
  inputOptions: { preserveEntrySignatures: false },
})
