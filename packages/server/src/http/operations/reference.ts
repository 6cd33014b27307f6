import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorsPage } from '@stet/contract/errors-page'
import openapi from '@stet/contract/openapi.json' with { type: 'json' }
import { SharedBody } from '../raw-response.ts'

interface Operation {
  summary: string
  tags: string[]
}

/** The `<style>` elements that the script adds. A test in a browser fails if the script adds another one. */
const styleHashes = [
  'd7niGYA9R/xp7r1pyc/+3ntTepKCabnrqd2exao76s4=',
  'DLlkYCuDYGe6ME23YkUFB7Tc36rGDeo4mVBFbZX3uaU=',
  'ZW1GSuo0pKyEx5Ar7ZC5Dflb/mjatjeTW9aVx0iZAzE=',
  'rO+6k1mDRASa9Q8IQu9I3bF+bjRdxDreAZCyGSaxzeI=',
  // an empty element, which it fills later
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
]

/**
 * Style attributes come from the script too, and no hash can allow them. They cannot load anything, because every
 * address but this server's is refused.
 */
export const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src ${styleHashes.map((each) => `'sha256-${each}'`).join(' ')}`,
  "style-src-attr 'unsafe-inline'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const referenceScriptPath = '/docs/reference.js'
/** The page and the summary link to it. */
export const errorsPagePath = '/docs/errors.md'

export interface Reference {
  page: SharedBody
  script: SharedBody
  openapi: SharedBody
  llms: SharedBody
  errors: SharedBody
}

/** @param packageRoot contains `dist/reference.js.gz`, which `scripts/make-reference.ts` writes */
export function createReference(packageRoot: string): Reference {
  const script = new SharedBody('text/javascript; charset=utf-8', () => ({
    gzip: readFileSync(join(packageRoot, 'dist', 'reference.js.gz')),
  }))
  return {
    script,
    page: text('text/html; charset=utf-8', () => referencePage(hash('sha256', script.gzip(), 'hex').slice(0, 16))),
    openapi: text('application/json; charset=utf-8', () => JSON.stringify(openapi)),
    llms: text('text/plain; charset=utf-8', apiSummary),
    // Browsers would save a file of the type text/markdown.
    errors: text('text/plain; charset=utf-8', errorsPage),
  }
}

function text(contentType: string, render: () => string): SharedBody {
  return new SharedBody(contentType, () => ({ plain: Buffer.from(render()) }))
}

/** Addresses are relative, because a proxy may serve stet below a path. */
function referencePage(scriptVersion: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>stet API reference</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>The reference needs JavaScript. Without it, read <a href="openapi.json">openapi.json</a> or
<a href="llms.txt">llms.txt</a>.</noscript>
<div id="reference"></div>
<script src="docs/reference.js?v=${scriptVersion}"></script>
</body>
</html>
`
}

/** The API in the form of llmstxt.org: a title, a summary, and a line for each route. */
function apiSummary(): string {
  const prefix = openapi.servers[0]?.url ?? ''
  const groups = new Map(openapi.tags.map(({ name }): [string, string[]] => [name, []]))
  for (const [path, item] of Object.entries<Record<string, unknown>>(openapi.paths)) {
    const address = 'servers' in item ? path : prefix + path
    for (const [method, operation] of Object.entries(item)) {
      if (!isOperation(operation)) continue
      for (const tag of operation.tags)
        groups.get(tag)?.push(`- \`${method.toUpperCase()} ${address}\`: ${operation.summary}`)
    }
  }
  const { title, version, description } = openapi.info
  const [summary = '', ...rules] = description.split('\n\n')
  const links = [
    '- [openapi.json](openapi.json): parameters, schemas, errors, and a call of `@stet/sdk` for each route',
    '- [docs](docs): the same as a web page',
  ]
  const routes = [...groups].map(([tag, lines]) => `## ${tag}\n\n${lines.join('\n')}`)
  return `${[`# ${title} ${version}`, `> ${summary}`, ...rules, links.join('\n'), ...routes].join('\n\n')}\n`
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'summary' in value
}
