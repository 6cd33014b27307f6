/**
 * The short way of `GET document`: who is known, may read, and asks for what lies ready in memory gets it before Express.
 * Whatever is not so is no failure here: the request goes the general way, which knows every refusal.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { API_PREFIX, contract } from '@stet/contract'
import { recallCaller } from '../../features/access/verify-api-key.ts'
import type { HttpDeps } from '../http-deps.ts'
import { readTail } from '../input/document-path-tail.ts'
import { bearerToken } from '../request/authenticate.ts'
import { authoriseRoute } from '../request/authorise.ts'
import { spendPoint } from '../request/rate-limit.ts'
import { contextOf } from '../request/request-context.ts'
import { failureFields } from './failure-fields.ts'
import { type ReadyDocument, type ReadyDocuments, writeReadyDocument } from './ready-document.ts'
import { createTurns, type TakeTurn } from './turns.ts'

// Without a query, and with ids in their plain spelling; every other address is one for the router.
const plainAddress = new RegExp(`^${API_PREFIX}/projects/([1-9]\\d{0,9})/versions/([\\w-]+)/documents/([^?]+)$`)

const route = contract.documents.get

// One read of a socket is 64 KB; the shortest request that is answered here has 133 bytes.
const answersPerTurn = 500

/** @returns a function that tells whether it answers; `general` gets those requests back which have no point left. */
export function recalledDocuments(
  deps: HttpDeps,
  ready: ReadyDocuments,
): (req: IncomingMessage, res: ServerResponse, general: RequestListener) => boolean {
  const takeTurn = createTurns(answersPerTurn)
  return (req, res, general) => {
    if (req.method !== 'GET' || deps.drain.isRefusing || !deps.place.isConfirmed()) return false
    const document = recall(deps, ready, req, res)
    if (!document) return false
    answer(deps, document, { req, res, general, takeTurn }).catch((error: unknown) => {
      // Nobody stands behind this way who could still answer.
      deps.log.error('http.unforeseen-failure', { requestId: contextOf(res).requestId, ...failureFields(error) })
      res.destroy()
    })
    return true
  }
}

function recall(
  deps: HttpDeps,
  ready: ReadyDocuments,
  req: IncomingMessage,
  res: ServerResponse,
): ReadyDocument | undefined {
  const [, projectId, versionRef = '', tail = ''] = plainAddress.exec(req.url ?? '') ?? []
  const token = projectId === undefined ? undefined : bearerToken(req.headers.authorization)
  const caller = token === undefined ? undefined : recallCaller(deps, token)
  if (!caller) return undefined
  try {
    authoriseRoute(route, caller)
    const document = ready.recall({ caller, projectId: Number(projectId), versionRef, path: readTail(tail) })
    if (document) contextOf(res).caller = caller
    return document
  } catch {
    // It will be refused again where refusals are answered.
    return undefined
  }
}

interface Asked {
  req: IncomingMessage
  res: ServerResponse
  general: RequestListener
  takeTurn: TakeTurn
}

async function answer(deps: HttpDeps, document: ReadyDocument, { req, res, general, takeTurn }: Asked): Promise<void> {
  const turn = takeTurn(req)
  if (turn) await turn
  const point = await spendPoint(deps, res).catch(() => undefined)
  if (point?.allowed) {
    contextOf(res).route = route.path
    writeReadyDocument(res, document, req.headers['if-none-match'])
  } else general(req, res)
}
