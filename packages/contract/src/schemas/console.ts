import { ContractNoBody } from '@ts-rest/core'
import { z } from 'zod'
import { absent, Id, KeyScope, nullsAbsent, Person, Timestamp } from '../common.ts'
import { withErrors } from '../errors.ts'
import { LIMITS } from '../vocabulary/limits.ts'
import { ApiKey } from './api-keys.ts'

const Workspace = z.object({ id: Id, name: z.string() })

export const Session = z
  .object({
    id: Id,
    apiKey: ApiKey,
    workspace: Workspace,
    admins: z.array(Person).meta({
      description:
        'The people who can change keys, people and providers, by name: the authors of usable admin keys without a ' +
        'project. Keys of programs, whose e-mail ends with `@localhost`, are left out.',
    }),
    expiresAt: Timestamp.meta({ description: 'The latest end. The session ends earlier if it is not used.' }),
    features: z.array(z.string()).meta({ description: 'Features of this server beyond the first release.' }),
    version: z.string().meta({ description: 'The version of the server.' }),
    database: z.enum(['embedded', 'postgresql']),
  })
  .meta({
    id: 'Session',
    description: 'A person signed in to the console. The session acts for one API key and ends with it.',
  })

export const SignInPreview = z
  .object({ workspace: Workspace, author: Person, scopes: z.array(KeyScope) })
  .meta({ id: 'SignInPreview', description: 'The person, workspace and scopes that a code signs in with.' })

export const SignInBody = nullsAbsent(
  z
    .object({
      code: z.string().exactOptional().meta({ description: 'The part of a sign-in link after `#`.' }),
      apiKey: z.string().exactOptional(),
      peek: z
        .boolean()
        .exactOptional()
        .meta({ description: 'Only shows who the code signs in. The code stays usable.' }),
    })
    .refine(({ code, apiKey }) => (code === undefined) !== (apiKey === undefined), {
      path: ['code'],
      error: 'must be sent, or apiKey, but not both',
    })
    .refine(({ apiKey, peek }) => apiKey === undefined || peek !== true, {
      path: ['peek'],
      error: 'needs a code',
    }),
).meta({
  id: 'SignInBody',
  description:
    'Opens a session with the code of a sign-in link, or with an API key. With `peek`, the response only shows who the code signs in, and the code stays usable.',
  example: '{ code: location.hash.slice(1) }',
})

export const ConsoleSession = z
  .object({
    id: Id,
    apiKey: z.object({ id: Id, name: z.string(), prefix: z.string() }),
    author: Person,
    userAgent: z.string().meta({ description: "The browser's own description of itself; empty if it sent none." }),
    createdAt: Timestamp,
    lastSeenAt: Timestamp.meta({ description: 'Up to a minute old.' }),
    expiresAt: Timestamp,
    isCurrent: z.boolean().meta({ description: 'True for the session of this request.' }),
  })
  .meta({ id: 'ConsoleSession', description: 'An entry in the list of sessions.' })

export const CreateSignInLinkBody = absent({
  apiKeyId: Id.exactOptional().meta({
    description: "The key that the link signs in with. Default: the caller's key. Another key requires `admin`.",
  }),
  ttlSeconds: z
    .int()
    .min(LIMITS.leastLinkSeconds)
    .max(LIMITS.mostLinkSeconds)
    .default(60)
    .meta({ description: 'How long the link works, in seconds.' }),
}).meta({ id: 'CreateSignInLinkBody', example: '{ apiKeyId: created.id, ttlSeconds: 604800 }' })

export const SignInLink = z
  .object({ url: z.string().meta({ description: 'Works once.' }), expiresAt: Timestamp })
  .meta({ id: 'SignInLink', description: 'A link that signs in once.' })

/** Malformed ids count as unknown ids. */
const SessionParams = z.object({ id: z.string().meta({ description: 'The id of the session, a positive integer.' }) })

export const consoleRouteShapes = {
  signIn: {
    summary: 'Sign in to the console',
    description:
      'Opens a session and sets its cookie. Needs the header `X-Stet-Console: 1`. With `peek`, only shows who the code ' +
      'signs in. Every refused code or key gets the same 401. A sign-in costs the key one request of its rate limit. A ' +
      'key has at most 20 sessions: a new one ends the oldest.',
    body: SignInBody,
    responses: withErrors({ 200: SignInPreview, 201: Session }),
  },
  session: {
    summary: 'Show the current session',
    description: 'Returns the session of the cookie. 401 without one, and for an API key.',
    responses: withErrors({ 200: Session }),
  },
  signOut: {
    summary: 'Sign out of the console',
    description: 'Ends the session and expires its cookie. 401 without a session, and for an API key.',
    responses: withErrors({ 204: ContractNoBody }),
  },
  sessions: {
    summary: 'List sessions',
    description: "Newest first: the sessions of the caller's key; with `admin`, all sessions of the workspace.",
    responses: withErrors({ 200: z.array(ConsoleSession) }),
  },
  endSession: {
    summary: 'End a session',
    description: 'Takes effect at once. 404 for a session that the list does not show.',
    pathParams: SessionParams,
    responses: withErrors({ 204: ContractNoBody }),
  },
  createLink: {
    summary: 'Create a sign-in link',
    description:
      'Returns a link that signs in once. A key restricted to a project can only create links for itself. 409 if the ' +
      'named key is revoked or expired.',
    body: CreateSignInLinkBody,
    responses: withErrors({ 201: SignInLink }),
  },
}
