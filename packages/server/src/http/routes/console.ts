import { randomUUID } from 'node:crypto'
import type { consoleContract } from '@stet/contract'
import type { Request, Response } from 'express'
import { listAdmins } from '../../features/access/change-api-keys.ts'
import {
  endReplacedSession,
  endSession,
  listSessions,
  openSession,
  previewSignIn,
} from '../../features/sessions/open-session.ts'
import { createSignInLink, publicUrlOf, signInUrl } from '../../features/sessions/sign-in-link.ts'
import { refuse } from '../../shared/app-error.ts'
import { consoleSessionBody, sessionBody, signInPreviewBody } from '../../wire/console.ts'
import { type CookiePlace, findInstallation, isSecure, sessionCookie, sessionTokenOf } from '../auth/console-request.ts'
import { callerOf } from '../auth/request-context.ts'
import { pathId } from '../body/address.ts'
import type { HttpDeps } from '../http-deps.ts'
import type { Routes } from '../mount.ts'

/** Longer descriptions of browsers are cut. */
const userAgentLength = 512

export function consoleRoutes(deps: HttpDeps): Routes<typeof consoleContract.console> {
  const { stores, settings } = deps
  return {
    signIn: async ({ body, req, res }) => {
      const { code, apiKey = '', peek = false } = body
      const address = req.ip ?? ''
      if (code !== undefined && peek) {
        const key = await previewSignIn(deps, { code, address })
        return { status: 200, body: signInPreviewBody(key, await stores.workspaces.find(key.workspaceId)) }
      }
      const credential = code === undefined ? { apiKey } : { code }
      const userAgent = (req.get('user-agent') ?? '').slice(0, userAgentLength)
      const [place, replaced] = [await cookiePlace(deps, req), await sessionTokenOf(deps, req)]
      const { session, token } = await openSession(deps, { credential, userAgent, address })
      const seconds = Math.ceil((session.expiresAt.getTime() - session.createdAt.getTime()) / 1000)
      // Before the steps that may fail, because the code is used up.
      res.setHeader('Set-Cookie', sessionCookie(place, token, seconds))
      if (replaced !== undefined) await endReplacedSession(deps, replaced)
      const workspace = await describeWorkspace(deps, session.workspaceId)
      return { status: 201, body: sessionBody(session, workspace, settings) }
    },
    session: async ({ res }) => {
      const { workspaceId, id } = currentSession(res)
      const [session, workspace] = await Promise.all([
        stores.sessions.findOptional(workspaceId, id),
        describeWorkspace(deps, workspaceId),
      ])
      if (!session) throw refuse('no-key')
      return { status: 200, body: sessionBody(session, workspace, settings) }
    },
    signOut: async ({ req, res }) => {
      const { id } = currentSession(res)
      const place = await cookiePlace(deps, req)
      await endSession(deps, { caller: callerOf(res), id })
      res.setHeader('Set-Cookie', sessionCookie(place, '', 0))
      return { status: 204, body: undefined }
    },
    sessions: async ({ res }) => {
      const caller = callerOf(res)
      const sessions = await listSessions(deps, caller)
      return { status: 200, body: sessions.map((session) => consoleSessionBody(session, caller.sessionId)) }
    },
    endSession: async ({ params, res }) => {
      await endSession(deps, { caller: callerOf(res), id: pathId(params.id, 'unknown-session') })
      return { status: 204, body: undefined }
    },
    createLink: async ({ body, req, res }) => {
      const caller = callerOf(res)
      const { apiKeyId = caller.apiKeyId, ttlSeconds } = body
      const { code, expiresAt } = await createSignInLink(deps, { caller, apiKeyId, ttlSeconds })
      const url = signInUrl(publicUrlOf(settings, req.socket.localPort), code)
      return { status: 201, body: { url, expiresAt: expiresAt.toISOString() } }
    },
  }
}

async function describeWorkspace(deps: HttpDeps, id: number) {
  const [workspace, admins] = await Promise.all([deps.stores.workspaces.find(id), listAdmins(deps, id)])
  return { ...workspace, admins }
}

/** @throws AppError UnauthorizedError for a request with an API key, which has no session. */
function currentSession(res: Response): { workspaceId: number; id: number } {
  const { workspaceId, sessionId } = callerOf(res)
  if (sessionId === null) throw refuse('no-key')
  return { workspaceId, id: sessionId }
}

async function cookiePlace(deps: HttpDeps, req: Request): Promise<CookiePlace> {
  return {
    installation: (await findInstallation(deps)) ?? (await saveInstallation(deps)),
    isSecure: isSecure(deps.settings, req),
  }
}

async function saveInstallation({ stores, liveCache }: HttpDeps): Promise<string> {
  const installation = await stores.installations.save(randomUUID())
  await liveCache.drop('installation')
  return installation
}
