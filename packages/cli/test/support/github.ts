import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

interface Comment {
  id: number
  body: string
  user: { type: string }
}

/** Has the routes of GitHub's API for the comments of the issues of `team/prompts`, in pages. */
export async function startGithub() {
  const comments: Comment[] = []
  const github = { address: '', comments, tokens: new Set<string | undefined>(), isForbidden: false }
  const server = createServer(async (incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://x')
    const answer = (status: number, body: unknown): void => {
      outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    github.tokens.add(incoming.headers.authorization)
    if (github.isForbidden) return answer(403, { message: 'Resource not accessible by integration' })
    const body = incoming.method === 'GET' ? '' : ((await json(incoming)) as { body: string }).body
    // GitHub's own limit.
    if (body.length > 65_536) return answer(422, { message: 'body is too long' })
    if (incoming.method === 'PATCH') {
      const found = comments.find(({ id }) => pathname === `/repos/team/prompts/issues/comments/${id}`)
      if (found) found.body = body
      return answer(found ? 200 : 404, found ?? {})
    }
    if (pathname !== '/repos/team/prompts/issues/12/comments') return answer(404, {})
    if (incoming.method === 'POST') {
      comments.push({ id: comments.length + 1, body, user: { type: 'Bot' } })
      return answer(201, comments.at(-1))
    }
    const count = Number(searchParams.get('per_page'))
    const start = (Number(searchParams.get('page')) - 1) * count
    answer(200, comments.slice(start, start + count))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  github.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { github, stop: () => server.close() }
}
