/** The API reference: the contract's description, and one page made of it without script or outside asset. */
import { createHash } from 'node:crypto'
import openapi from '@stet/contract/openapi.json' with { type: 'json' }
import { renderReference, stylesheet } from './reference-page.ts'

export interface ReferencePage {
  html: string
  contentSecurityPolicy: string
}

let text: string | undefined
let page: ReferencePage | undefined

export function openApiText(): string {
  text ??= JSON.stringify(openapi)
  return text
}

export function referencePage(): ReferencePage {
  page ??= {
    html: renderReference(openapi),
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src 'sha256-${createHash('sha256').update(stylesheet).digest('base64')}'`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  }
  return page
}
