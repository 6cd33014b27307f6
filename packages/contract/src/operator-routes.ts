import { z } from 'zod'
import type { ErrorCause } from './causes/error-causes.ts'

export const Health = z.object({ status: z.literal('ok'), version: z.string(), features: z.array(z.string()) })

/** A GET route for the operator, without parameters and outside `API_PREFIX`. */
export interface OperatorRoute {
  path: string
  summary: string
  description: string
  contentType: 'application/json' | 'text/plain' | 'text/html'
  /** Omits `unforeseen`, which every route may return. */
  errors: readonly ErrorCause[]
}

/** The routes outside the API. These routes need no API key and have no rate limit. */
export const operatorRoutes = {
  health: {
    path: '/health',
    summary: 'Check that the process is up',
    description: 'Returns the version of the server and the names of its optional features.',
    contentType: 'application/json',
    errors: [],
  },
  ready: {
    path: '/ready',
    summary: 'Check whether the server accepts work',
    description: '503 while the database is unreachable or the server is stopping.',
    contentType: 'application/json',
    errors: ['not-ready'],
  },
  metrics: {
    path: '/metrics',
    summary: 'Get metrics',
    description:
      'Prometheus text. Needs the configured bearer token. Without a configured token, only loopback may read it.',
    contentType: 'text/plain',
    errors: ['no-key', 'wrong-metrics-token', 'metrics-loopback-only'],
  },
  openapi: {
    path: '/openapi.json',
    summary: 'Get the OpenAPI document',
    description: 'This document.',
    contentType: 'application/json',
    errors: [],
  },
  llms: {
    path: '/llms.txt',
    summary: 'Get a summary for language models',
    description: 'Every route in one line, as Markdown (llmstxt.org).',
    contentType: 'text/plain',
    errors: [],
  },
  docs: {
    path: '/docs',
    summary: 'Open the API reference',
    description: 'This document as a web page that can send requests with your API key.',
    contentType: 'text/html',
    errors: [],
  },
} as const satisfies Record<string, OperatorRoute>
export type OperatorRouteName = keyof typeof operatorRoutes
