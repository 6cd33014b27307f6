/** An OpenTelemetry collector for tests: an HTTP server that decodes OTLP in JSON. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { expect } from 'vitest'

type AttributeValue = string | number | boolean | AttributeValue[]

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  /** 1 internal, 2 server, 3 client. */
  kind: number
  startNano: bigint
  endNano: bigint
  /** 2 is an error. */
  status: number
  attributes: Record<string, AttributeValue>
}

export interface OtlpCollector {
  url: string
  /** All spans so far. */
  spans: CollectedSpan[]
  /** The decoded bodies as text, for searching. */
  texts: string[]
  requests: { path: string; headers: IncomingHttpHeaders }[]
  resource: Record<string, AttributeValue>
  /** Waits until a span with this name arrives. Returns all spans of its trace. */
  traceWith(name: string): Promise<CollectedSpan[]>
  close(): Promise<void>
}

interface OtlpValue {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values: OtlpValue[] }
}

interface OtlpAttribute {
  key: string
  value: OtlpValue
}

interface OtlpSpan extends Pick<CollectedSpan, 'traceId' | 'spanId' | 'name' | 'kind'> {
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status?: { code?: number }
  attributes: OtlpAttribute[]
}

interface OtlpBody {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[]
}

/** @param isHanging true if the collector reads requests but never answers. */
export async function otlpCollector({ isHanging = false } = {}): Promise<OtlpCollector> {
  const collected: Pick<OtlpCollector, 'spans' | 'texts' | 'requests' | 'resource'> = {
    spans: [],
    texts: [],
    requests: [],
    resource: {},
  }
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const sent = Buffer.concat(pieces)
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString('utf8')
    collected.requests.push({ path: request.url ?? '', headers: request.headers })
    collected.texts.push(text)
    for (const { resource, scopeSpans } of (JSON.parse(text) as OtlpBody).resourceSpans) {
      collected.resource = attributesOf(resource.attributes)
      collected.spans.push(...scopeSpans.flatMap(({ spans }) => spans.map(toSpan)))
    }
    if (!isHanging) response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return Object.assign(collected, {
    url: `http://127.0.0.1:${port}`,
    async traceWith(name: string) {
      await expect.poll(() => collected.spans.map((span) => span.name)).toContain(name)
      const { traceId } = collected.spans.find((span) => span.name === name) ?? { traceId: '' }
      return collected.spans.filter((span) => span.traceId === traceId)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

/** Renders a trace as indented names, each list of children in order. Several spans may start in one millisecond. */
export function treeOf(spans: readonly CollectedSpan[]): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId))
  const lines: string[] = []
  const show = (parents: CollectedSpan[], depth: number): void => {
    for (const span of parents.sort((one, other) => one.name.localeCompare(other.name))) {
      lines.push(`${'  '.repeat(depth)}${span.name}`)
      show(
        spans.filter(({ parentSpanId }) => parentSpanId === span.spanId),
        depth + 1,
      )
    }
  }
  show(
    spans.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId)),
    0,
  )
  return lines
}

function toSpan({ parentSpanId, startTimeUnixNano, endTimeUnixNano, status, attributes, ...span }: OtlpSpan) {
  return {
    ...{ traceId: span.traceId, spanId: span.spanId, name: span.name, kind: span.kind },
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    startNano: BigInt(startTimeUnixNano),
    endNano: BigInt(endTimeUnixNano),
    status: status?.code ?? 0,
    attributes: attributesOf(attributes),
  }
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, AttributeValue> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]))
}

function plainValue({ stringValue, intValue, doubleValue, boolValue, arrayValue }: OtlpValue): AttributeValue {
  if (arrayValue) return arrayValue.values.map(plainValue)
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue)) ?? doubleValue ?? boolValue ?? ''
}
