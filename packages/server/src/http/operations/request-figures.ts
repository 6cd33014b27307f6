import type { ServerResponse } from 'node:http'
import type { Logger } from '../../shared/logger.ts'
import { contextOf } from '../auth/request-context.ts'
import type { Metric } from './metric.ts'

interface Figure {
  labels: Record<string, string>
  count: number
  seconds: number
}

/** Counts requests by route and status, and logs one line for each at its end. */
export class RequestFigures {
  readonly #figures = new Map<string, Figure>()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  /** A response that was sent, or whose connection was closed. */
  note(res: ServerResponse): void {
    const { requestId, startedAtMs, route = 'none', caller } = contextOf(res)
    const { method = '' } = res.req
    const durationMs = Math.round((performance.now() - startedAtMs) * 1000) / 1000
    this.#record(method, route, res.statusCode, durationMs / 1000)
    this.#log.info('http.request', {
      requestId,
      method,
      route,
      status: res.statusCode,
      durationMs,
      complete: res.writableFinished,
      apiKeyId: caller?.apiKeyId,
    })
  }

  metrics(): Metric[] {
    const figures = [...this.#figures.values()]
    return [
      {
        name: 'stet_http_requests_total',
        help: 'Requests answered, by route and status.',
        type: 'counter',
        samples: figures.map(({ labels, count }) => ({ labels, value: count })),
      },
      {
        name: 'stet_http_request_seconds_total',
        help: 'Time from request to end of response, summed.',
        type: 'counter',
        samples: figures.map(({ labels, seconds }) => ({ labels, value: seconds })),
      },
    ]
  }

  // Labels come from the contract, not from what callers send: their number is bounded.
  #record(method: string, route: string, status: number, seconds: number): void {
    const known = knownMethods.has(method) ? method : 'other'
    const key = `${known} ${route} ${status}`
    const figure = this.#figures.get(key) ?? {
      labels: { method: known, route, status: String(status) },
      count: 0,
      seconds: 0,
    }
    figure.count += 1
    figure.seconds += seconds
    this.#figures.set(key, figure)
  }
}

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
