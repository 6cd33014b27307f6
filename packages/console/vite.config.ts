import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { bundledLicenses } from '../../scripts/build/bundled-licenses.ts'
import manifest from './package.json' with { type: 'json' }

/** The server that the development server forwards calls to. */
const server = process.env['STET_BASE_URL'] ?? 'http://127.0.0.1:8787'

const fonts = Object.keys(manifest.devDependencies).filter((name) => name.startsWith('@fontsource'))
const licenses = bundledLicenses(fileURLToPath(new URL('.', import.meta.url)), fonts)

/** A file that several parts share would otherwise be a request of its own. */
const chunks = [
  { name: 'console', tags: ['$initial' as const] },
  { name: 'ui', test: /src.(ui|app)\b(?!.*(guide|markdown|json-tree))/ },
  { name: 'sdk', test: /packages.sdk.dist(?!.eval\b)/ },
  { name: 'codemirror', test: /@codemirror.(?!merge)|@lezer/ },
  { name: 'settings', test: /src.screens.settings.(?!page)/ },
  // Small parts of runs that several screens show. Otherwise the next chunk would take them along.
  {
    name: 'run-parts',
    test: /src.runs.(output.answer-text|run-state|run-figures|inputs.input-value|compare.arm|session.rounds|follow-run)/,
    priority: 1,
  },
  // Examples, their results, the queue of labels and judges lead to each other.
  { name: 'evaluations', test: /src.(grid|screens.(queue|judge|experiments))\b|packages.sdk.dist.eval\b/ },
]

export default defineConfig({
  // Relative addresses resolve against <base href>, so a sub-path behind a proxy needs no rebuild.
  base: './',
  plugins: [react(), developmentPage(), layerOrder(), { ...licenses, apply: 'build' }],
  server: { proxy: { '/api': server, '/console': server } },
  build: {
    target: 'es2023',
    // Keeps light-dark() and nesting as written.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    rolldownOptions: { output: { codeSplitting: { groups: chunks } } },
    manifest: true,
    // One style sheet of 12 kB: Vite never loads a part's sheet again after a failed attempt, and would show it without.
    cssCodeSplit: false,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})

/** Fills the placeholders that stet fills when it serves the built page. */
function developmentPage(): Plugin {
  return {
    name: 'stet-development-page',
    apply: 'serve',
    transformIndexHtml: (html) => html.replaceAll('__STET_BASE__', '/').replaceAll('__STET_NONCE__', ''),
  }
}

/**
 * The order of layers is that of their first mention, and a page loads the style sheet of a part before the base. So
 * each built style sheet names all layers first.
 */
function layerOrder(): Plugin {
  return {
    name: 'stet-layer-order',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      for (const asset of Object.values(bundle))
        if (asset.type === 'asset' && asset.fileName.endsWith('.css'))
          asset.source = `@layer tokens,base,ui,screens;${asset.source}`
    },
  }
}
