/** The API reference: the contract's description, and one page made of it without script or outside asset. */
import { createHash } from 'node:crypto'
import openapi from '@stet/contract/openapi.json' with { type: 'json' }
import { renderReference, stylesheet } from './reference-page.ts'

export interface ReferencePage {
  html: Buffer
  contentSecurityPolicy: string
}

let description: Buffer | undefined
let page: ReferencePage | undefined

/** One buffer for all answers: a text would be encoded, and held, for each. */
export function openApiDocument(): Buffer {
  description ??= Buffer.from(JSON.stringify(openapi))
  return description
}

export function referencePage(): ReferencePage {
  page ??= {
    html: Buffer.from(renderReference(openapi)),
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
