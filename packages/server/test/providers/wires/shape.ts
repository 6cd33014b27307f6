/**
 * A provider kind's wire format: how its service writes each answer case, and the expected request in each request
 * case.
 */
import type { FinishReason, ProviderSettings } from '../../../src/features/providers/model-driver.ts'
import type { ProviderError } from '../../../src/features/providers/provider-error.ts'
import type { Usage } from '../../../src/features/providers/usage.ts'

export type Json = Record<string, unknown>

export const answerCases = [
  'text',
  'reasoning',
  'split call',
  'several calls',
  'call without arguments',
  'cached tokens',
  'sources',
  'image',
] as const
export const failureCases = [
  'refused request',
  'wrong key',
  'rate limit',
  'failure within the answer',
  'proxy',
] as const
export const requestCases = [
  'image by URL',
  'image by content',
  'PDF by content',
  'PDF by URL',
  'sound by content',
  'structured answer',
  'tools',
  'settings',
  'roles',
  'several texts',
  'tool turn',
  'generated image',
] as const

/** The expected result of an answer. Missing parts are empty. */
export interface Told {
  text?: string
  reasoning?: string
  calls?: [name: string, args: Json | undefined][]
  files?: [url: string, mimeType: string][]
  sources?: string[]
  finishReason: FinishReason
  usage?: Partial<Usage>
}

export interface AnswerWire {
  /** A string is sent unchanged, an object as event data. */
  frames: readonly (Json | string)[]
  plain: Json
  told: Told
}

export interface FailureWire {
  status?: number
  headers?: Record<string, string>
  /** A string is sent unchanged. */
  body?: unknown
  /** A failure after the answer has started. */
  frames?: readonly (Json | string)[]
  told: Partial<ProviderError>
}

/** A string is the reason why a case does not exist. */
export interface KindWire {
  provider: Partial<ProviderSettings>
  model: string
  path: string
  answers: Record<(typeof answerCases)[number], AnswerWire | string>
  ending(reason: string): readonly (Json | string)[]
  reasons: Record<string, FinishReason>
  failures: Record<(typeof failureCases)[number], FailureWire>
  /** The expected body keys in each case. An Error means that the call fails before it is sent. */
  requests: Record<(typeof requestCases)[number], Json | Error>
}

export const html = '<html>\r\n<head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'

/** A proxy sends the same failure for every service behind it. */
export const proxyFailure: FailureWire = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: html,
  told: { kind: 'unavailable', status: 502, providerMessage: '502 Bad Gateway 502 Bad Gateway' },
}

export const pixel = 'iVBORw0KGgo='
export const closedSchema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
