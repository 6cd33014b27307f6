import { type ApiError, errorClassOf } from '../errors.ts'
import type { Settings } from './settings.ts'

const TIMEOUT_MS = 5000

/**
 * Finds out whether a response came from a server other than stet, for example from another service on the same port.
 * If `/health` proves that, returns an error that says so. Otherwise, or if `/health` proves nothing, returns `error`.
 */
export async function explainForeign(settings: Settings, error: ApiError): Promise<ApiError> {
  // A proxy may remove the request id of an error of stet, but not its code.
  if (error.serverResponse.includes('"errorCode"')) return error
  const { rootUrl } = settings
  const health = await readHealth(settings, rootUrl)
  if (health === undefined || health.isStet) return error
  const { status } = health
  // A gateway that refuses or fails may be in front of a stet server.
  if (status !== 404 && status !== 405 && status >= 300) return error
  const { origin } = new URL(rootUrl)
  const isAbove = origin !== rootUrl && (await readHealth(settings, origin))?.isStet === true
  const found = isAbove ? `. A stet server answers at ${origin}: set baseUrl to it` : ''
  const message = `${rootUrl}: this is no stet server (GET /health answered ${status})${found}`
  return new (errorClassOf(error.status))({ ...error, headers: error.headers ?? new Headers(), message })
}

/** Resolves with undefined if the host did not answer. */
async function readHealth(settings: Settings, url: string): Promise<{ status: number; isStet: boolean } | undefined> {
  const { fetch, fetchOptions, defaultHeaders } = settings
  const headers = new Headers({ Accept: 'application/json' })
  for (const [name, value] of Object.entries(defaultHeaders ?? {})) if (value !== null) headers.set(name, value)
  try {
    const response = await fetch(`${url}/health`, {
      ...fetchOptions,
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    return { status: response.status, isStet: isStet(await response.text()) }
  } catch {
    return undefined
  }
}

function isStet(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as { version?: unknown }).version === 'string'
  } catch {
    return false
  }
}
