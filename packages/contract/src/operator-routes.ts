import type { ErrorCause } from './vocabulary/index.ts'

/** A route outside of {@link API_PREFIX}: a GET without parameters, for the operator. */
export interface OperatorRoute {
  path: string
  summary: string
  description: string
  /** Of the answer, without its parameters. */
  contentType: 'application/json' | 'text/plain' | 'text/html'
  /** Beside 500, why it answers with an error. */
  errors: readonly ErrorCause[]
}

/**
 * Every route outside of the API: no key is asked for and no rate limit counts.
 *
 * @example
 * operatorRoutes.ready.path // '/ready'
 */
export const operatorRoutes = {
  health: {
    path: '/health',
    summary: 'Tell that the process lives',
    description: 'With the version of the server and the names of its optional features.',
    contentType: 'application/json',
    errors: [],
  },
  ready: {
    path: '/ready',
    summary: 'Tell whether the server takes work',
    description: 'Not while the database is out of reach or the server stops.',
    contentType: 'application/json',
    errors: ['not-ready'],
  },
  metrics: {
    path: '/metrics',
    summary: 'Show the figures',
    description: 'Prometheus text; with the bearer token that is configured, and on loopback alone when none is.',
    contentType: 'text/plain',
    errors: ['no-key', 'wrong-metrics-token', 'metrics-loopback-only'],
  },
  openapi: {
    path: '/openapi.json',
    summary: 'Describe the API',
    description: 'This document.',
    contentType: 'application/json',
    errors: [],
  },
  docs: {
    path: '/docs',
    summary: 'Show the reference',
    description: 'This document as a page.',
    contentType: 'text/html',
    errors: [],
  },
} as const satisfies Record<string, OperatorRoute>
export type OperatorRouteName = keyof typeof operatorRoutes
