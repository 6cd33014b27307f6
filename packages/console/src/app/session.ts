import type { KeyScope, Session, SignInBody } from '@stet/contract/vocabulary'
import { ApiError, ConnectionError, Stet, UnauthorizedError } from '@stet/sdk'
import { MutationCache, QueryCache, QueryClient, queryOptions, useQuery } from '@tanstack/react-query'
import { createContext } from 'react'
import { Signal, useWatched, Watched } from '../ui/watched.ts'
import { noticeOutage, noticeResponse } from './frame/lines/connection.ts'
import { setPreferences } from './preferences.ts'
import { discardUnsaved, keepAgain, wipeCopies } from './unsaved.ts'

/** The address that the console is served at, from `<base href>`. It ends with a slash. */
export const base = new URL('.', document.baseURI)

/** The nonce of this page's Content-Security-Policy. The editor needs it for its styles. */
export const NonceContext = createContext('')

/** Every request of the console has this header. Other sites cannot send it, so they cannot use the cookie. */
const consoleHeader = { 'X-Stet-Console': '1' }

/**
 * Names the person of this page. All tabs share the cookie, and the server refuses a request if it is another person's.
 */
const fetchAsAuthor: typeof fetch = (address, options) => {
  const headers = new Headers(options?.headers)
  const author = queryClient.getQueryData(sessionQuery.queryKey)?.apiKey.author
  if (author) headers.set('X-Stet-Author', String(author.id))
  return fetch(address, { ...options, headers })
}

/** The client for everything under /api/v3. The session cookie takes the place of an API key. */
export const stet = new Stet({
  apiKey: null,
  baseUrl: base.href.replace(/\/$/, ''),
  defaultHeaders: consoleHeader,
  fetch: fetchAsAuthor,
  logLevel: 'off',
})

export const queryClient = new QueryClient({
  defaultOptions: {
    // The SDK repeats failed requests itself. A focus of the window must not change the open text.
    // A server on this machine answers without a network, so only a failed request says that it cannot be reached.
    queries: { retry: false, refetchOnWindowFocus: false, staleTime: 5_000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
  queryCache: new QueryCache({ onError: noticeFailure, onSuccess: noticeResponse }),
  mutationCache: new MutationCache({ onError: noticeFailure, onSuccess: noticeResponse }),
})

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: readSession,
  staleTime: Number.POSITIVE_INFINITY,
})

/** When the page was asked to load again, in milliseconds of `performance.now()`. */
let leftAt = Number.NEGATIVE_INFINITY
/** A page that is still there after this time stays: the user did not want to leave text that is kept nowhere. */
const leavingMs = 1000

/**
 * Reads the session that the browser has now, perhaps from another tab. If it is another person's, the page is loaded
 * again, which offers that person what was not saved. Requests wait until then.
 *
 * @throws ConsoleError, ConnectionError as `callConsole`; ConsoleError `other-person` in a page that the user kept
 */
async function readSession(): Promise<Session> {
  const before = queryClient.getQueryData<Session>(['session'])
  const session = await callConsole<Session>('GET', '/console/session')
  if (!before || before.apiKey.author.id === session.apiKey.author.id) return session
  const isFirst = leftAt === Number.NEGATIVE_INFINITY
  if (!isFirst && performance.now() - leftAt > leavingMs)
    throw new ConsoleError(401, 'Another person has signed in with this browser', { reason: 'other-person' })
  if (isFirst) {
    leftAt = performance.now()
    location.reload()
  }
  return new Promise(() => {})
}

/** The session of this page. The shell shows screens only once it is loaded. */
export function useSession(): Session {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('This part was shown before the session was loaded')
  return data
}

/** For the `blocked` of a button: `your key lacks “publish”`, or false if the session's key has the scope. */
export function useBlocked(scope: KeyScope): string | false {
  const { apiKey } = useSession()
  return !apiKey.scopes.includes('admin') && !apiKey.scopes.includes(scope) && `your key lacks “${scope}”`
}

/**
 * Opens a session. The open screen stays, and everything that failed without a session is read again.
 *
 * @throws CookieRefused
 */
export async function signIn(credential: Pick<SignInBody, 'code' | 'apiKey'>): Promise<void> {
  await callConsole('POST', '/console/session', credential)
  sessionChanges.postMessage('opened')
  leftAt = Number.NEGATIVE_INFINITY
  // The browser has kept the cookie if the session can be read.
  if (!(await resumeSession())) throw new CookieRefused()
}

/** Continues with the session that the browser has now. False if it has none. */
export async function resumeSession(): Promise<boolean> {
  const session = await readSession().catch((error) => {
    if (isSignedOut(error)) return null
    throw error
  })
  if (!session) return false
  queryClient.setQueryData(sessionQuery.queryKey, session)
  signedOut.set(false)
  keepAgain()
  resumed.notify()
  setPreferences({ wasSignedIn: true })
  void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })
  return true
}

/**
 * Ends the session and discards unsaved texts. The sign-in screen is loaded as a new page, so that the next person
 * finds nothing of this one in memory.
 */
export async function signOut(): Promise<void> {
  try {
    await callConsole('DELETE', '/console/session')
  } catch (error) {
    if (isOtherPerson(error)) return resumeSoon()
    if (!isSignedOut(error)) throw error
  }
  sessionChanges.postMessage('ended')
  discardUnsaved()
  setPreferences({ wasSignedIn: false })
  location.assign(new URL('sign-in', base))
}

/** Reaches the other tabs, which share the cookie, also on plain http and if the browser's storage is full. */
const sessionChanges = new BroadcastChannel(`stet.session ${base.pathname}`)

sessionChanges.addEventListener('message', ({ data: change }: MessageEvent<'opened' | 'ended'>) => {
  if (change === 'ended') {
    wipeCopies()
    signedOut.set(true)
  } else if (queryClient.getQueryData(sessionQuery.queryKey)) resumeSoon()
})

/** Without a session the sheet appears. If the session cannot be read now, the next refusal tries again. */
function resumeSoon(): void {
  const show = (isOpen: boolean) => isOpen || signedOut.set(true)
  void resumeSession().then(show, () => undefined)
}

/** The browser did not keep the session cookie. */
export class CookieRefused extends Error {}

interface ConsoleErrorFacts {
  reason?: string
  errorCode?: string
  requestId?: string | null
}

/** A refusal of a `/console` route, in the shape of the API's error bodies. */
export class ConsoleError extends Error {
  readonly status: number
  readonly reason: string | undefined
  readonly errorCode: string | undefined
  readonly requestId: string | null

  constructor(status: number, message: string, { reason, errorCode, requestId = null }: ConsoleErrorFacts = {}) {
    super(message)
    this.status = status
    this.reason = reason
    this.errorCode = errorCode
    this.requestId = requestId
  }
}

/**
 * Calls a `/console` route, which the SDK leaves out. An empty response resolves to undefined.
 *
 * @throws ConsoleError for every response other than 2xx
 * @throws ConnectionError if no response arrives
 */
export async function callConsole<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  // A sign-in may replace the person, and the page asks who it is.
  const send = path === '/console/session' && method !== 'DELETE' ? fetch : fetchAsAuthor
  const sent = send(new URL(path.slice(1), base), {
    method,
    headers: { ...consoleHeader, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const response = await sent.catch((cause) => {
    throw new ConnectionError('The server is not responding', { cause })
  })
  const text = await response.text()
  // A proxy may answer with a page of its own.
  const isJson = response.headers.get('Content-Type')?.includes('json') === true
  const answer = text && isJson ? JSON.parse(text) : undefined
  if (response.ok && (isJson || text === '')) return answer
  const message = answer?.message ?? `The server returned ${response.status} without JSON`
  const { errorCode, reason } = Object(answer)
  const requestId = response.headers.get('x-request-id')
  throw new ConsoleError(response.status, message, { reason, errorCode, requestId })
}

/** Whether the session has ended while the page was open. The sign-in sheet then covers the screen. */
const signedOut = new Watched(false)
const resumed = new Signal()

/** Calls `listener` each time a session begins or continues. */
export const onResume = resumed.watch

export function useSignedOut(): boolean {
  return useWatched(signedOut)
}

/** Call this with the error of any request that is sent outside of a query or mutation. */
export function noticeSignedOut(error: unknown): void {
  if (isOtherPerson(error)) resumeSoon()
  else if (isSignedOut(error)) {
    // The server answers. Otherwise an outage would last until the user has signed in.
    noticeResponse()
    signedOut.set(true)
  }
}

function noticeFailure(error: unknown): void {
  noticeOutage(error)
  noticeSignedOut(error)
}

function isOtherPerson(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof ConsoleError) && error.reason === 'other-person'
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** A refused link or key (`sign-in-refused`) ends no session. */
export function isSignedOut(error: unknown): boolean {
  if (error instanceof ConsoleError) return error.status === 401 && error.reason !== 'sign-in-refused'
  return error instanceof UnauthorizedError
}
