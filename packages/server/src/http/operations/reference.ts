import { hash } from 'node:crypto'
import openapi from '@stet/contract/openapi.json' with { type: 'json' }

interface Reference {
  info: { title: string; version: string; description?: string }
  paths: Record<string, Record<string, unknown>>
  components?: { schemas?: Record<string, unknown> }
}

interface Operation {
  summary?: string
  description?: string
  tags?: string[]
  requestBody?: unknown
  parameters?: unknown[]
  responses?: Record<string, { description?: string }>
}

const stylesheet = `
:root{color-scheme:light dark;--line:#8884;--soft:#8881}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:2rem 1rem}
h1{margin:0}h2{margin:2.5rem 0 .5rem;text-transform:capitalize}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:1rem 0}
details{border:1px solid var(--line);border-radius:.5rem;margin:.5rem 0;padding:.5rem .75rem}
summary{cursor:pointer}summary code{font-weight:600}
pre{background:var(--soft);border-radius:.375rem;overflow:auto;padding:.75rem;font-size:.85rem}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid var(--line);padding:.25rem .5rem .25rem 0;text-align:left;vertical-align:top}
.method{display:inline-block;min-width:4.5rem}`

export const referencePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${hash('sha256', stylesheet, 'base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

// Encoded once, because a string would be encoded again for each response.
let description: Buffer | undefined
let page: Buffer | undefined

export function openApiDocument(): Buffer {
  description ??= Buffer.from(JSON.stringify(openapi))
  return description
}

export function referencePage(): Buffer {
  page ??= Buffer.from(renderReference(openapi))
  return page
}

export function renderReference(reference: Reference): string {
  const groups = groupByTag(reference.paths)
  const schemas = Object.entries(reference.components?.schemas ?? {})
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(reference.info.title)} reference</title><style>${stylesheet}</style></head>
<body>
<h1>${escapeHtml(reference.info.title)} ${escapeHtml(reference.info.version)}</h1>
<p>${escapeHtml(reference.info.description ?? '')}</p>
<p>Machine-readable: <a href="openapi.json">openapi.json</a></p>
<nav>${[...groups.keys(), 'schemas'].map((tag) => `<a href="#${anchor(tag)}">${escapeHtml(tag)}</a>`).join('')}</nav>
${[...groups].map(([tag, entries]) => `<h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>\n${entries.join('\n')}`).join('\n')}
<h2 id="schemas">schemas</h2>
${schemas.map(([name, schema]) => `<details id="schema-${anchor(name)}"><summary><code>${escapeHtml(name)}</code></summary>${block(schema)}</details>`).join('\n')}
</body>
</html>
`
}

function groupByTag(paths: Reference['paths']): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, value] of Object.entries(methods)) {
      if (!isOperation(value)) continue
      const tag = value.tags?.[0] ?? 'other'
      groups.set(tag, [...(groups.get(tag) ?? []), renderOperation(method, path, value)])
    }
  }
  return groups
}

// A path can also have shared `parameters`, which are a list. Its operations are objects.
function isOperation(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function renderOperation(method: string, path: string, operation: Operation): string {
  return `<details><summary><code><span class="method">${escapeHtml(method.toUpperCase())}</span> ${escapeHtml(path)}</code> ${escapeHtml(operation.summary ?? '')}</summary>
<p>${escapeHtml(operation.description ?? '')}</p>
${renderJson('Parameters', operation.parameters)}${renderJson('Request body', operation.requestBody)}
<table><tr><th>Status</th><th>Answer</th></tr>${Object.entries(operation.responses ?? {})
    .map(
      ([status, { description = '' }]) => `<tr><td>${escapeHtml(status)}</td><td>${escapeHtml(description)}</td></tr>`,
    )
    .join('')}</table>
${renderJson('Responses in full', operation.responses)}</details>`
}

function renderJson(title: string, value: unknown): string {
  return value === undefined ? '' : `<details><summary>${title}</summary>${block(value)}</details>\n`
}

function block(value: unknown): string {
  const text = escapeHtml(JSON.stringify(value, null, 2))
  return `<pre>${text.replace(/#\/components\/schemas\/([A-Za-z0-9_-]+)/g, (whole, name: string) => `<a href="#schema-${anchor(name)}">${whole}</a>`)}</pre>`
}

function anchor(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
