import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface StoredVersion {
  name: string
  version: number
  labels: string[]
  prompt: unknown
  tags?: string[]
  config?: unknown
}

export const keys = { publicKey: 'pk-lf-test', secretKey: 'sk-lf-secret' }

type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void

export interface FakeLangfuse {
  address: string
  requests: string[]
}

/** Speaks Langfuse's public API: the list of prompts with pages, and each prompt by name, and label or version. */
export function startLangfuse(versions: readonly StoredVersion[]): Promise<FakeLangfuse> {
  return startServer((request, response, url) => {
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    const basic = Buffer.from(`${keys.publicKey}:${keys.secretKey}`).toString('base64')
    if (request.headers.authorization !== `Basic ${basic}`) {
      send(401, { message: 'Invalid credentials. Confirm that you have configured the correct host.' })
      return
    }
    const [, name] = /^\/api\/public\/v2\/prompts(?:\/([^/]+))?$/.exec(url.pathname) ?? []
    if (name === undefined) send(200, page(versions, url.searchParams))
    else {
      const found = findVersion(versions, decodeURIComponent(name), url.searchParams)
      if (found) send(200, { type: typeof found.prompt === 'string' ? 'text' : 'chat', config: {}, tags: [], ...found })
      else send(404, { message: 'Prompt not found', error: 'LangfuseNotFoundError' })
    }
  })
}

function page(versions: readonly StoredVersion[], query: URLSearchParams): object {
  const names = [...new Set(versions.map(({ name }) => name))]
  const [page, limit] = [Number(query.get('page') ?? 1), Math.min(Number(query.get('limit') ?? 10), 100)]
  const data = names.slice((page - 1) * limit, page * limit).map((name) => {
    const own = versions.filter((one) => one.name === name)
    return {
      name,
      type: 'text',
      versions: own.map((one) => one.version),
      labels: own.flatMap((one) => one.labels),
      tags: [],
    }
  })
  return { data, meta: { page, limit, totalItems: names.length, totalPages: Math.ceil(names.length / limit) } }
}

function findVersion(versions: readonly StoredVersion[], name: string, query: URLSearchParams) {
  const [label, version] = [query.get('label') ?? 'production', query.get('version')]
  return versions.find(
    (one) => one.name === name && (version === null ? one.labels.includes(label) : one.version === Number(version)),
  )
}

export async function startServer(answer: Answer): Promise<FakeLangfuse> {
  const requests: string[] = []
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    requests.push(request.url ?? '')
    answer(request, response, new URL(request.url ?? '', 'http://fake'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { address: `http://127.0.0.1:${port}`, requests }
}
