import { API_PREFIX } from '@stet/contract/routes'
import { ConfigurationError } from '../errors.ts'

/** Query parameters. Undefined values are omitted. */
export type Query = Record<string, string | number | boolean | undefined>

/**
 * Fills a route template. `:path` keeps the slashes of a prompt path and drops one leading slash. Every other parameter
 * is one segment. Removes path parameters from `content`.
 */
export function fillRoute(
  template: string,
  params: Record<string, string | number | undefined>,
  content: Record<string, unknown> = {},
): string {
  return template.replace(/:(\w+)/g, (_, name: string) => {
    const value = params[name]
    delete content[name]
    if (value === undefined) throw missing(name)
    const text = String(value)
    if (name !== 'path') return encodeSegment(text, name)
    const segments = text.replace(/^\//, '').split('/')
    return segments.map((segment) => encodeSegment(segment, `path '${text}'`)).join('/')
  })
}

export function queryString(query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, `${value}`)
  // Do not use `size`: runtimes before 2023 lack this property, so the query would be missing without an error.
  return `${search}` && `?${search}`
}

export function missing(name: string): ConfigurationError {
  const isProject = name === 'projectId'
  return new ConfigurationError(
    isProject
      ? 'No project: pass projectId to the call or to new Stet(…), or set STET_PROJECT_ID'
      : `${name} is missing`,
  )
}

// Refuse dot segments, because URL parsers resolve them and the request would reach another route.
function encodeSegment(segment: string, what: string): string {
  if (/^\.?\.?$/.test(segment)) throw new ConfigurationError(`${what} has an empty or dot segment`)
  try {
    return encodeURIComponent(segment)
  } catch (cause) {
    throw new ConfigurationError(`${what} is not valid text`, { cause })
  }
}

/** Returns the two bases of a server address: the API including its prefix, and the root that serves `/health`. */
export function parseBaseUrl(text: string): { baseUrl: string; rootUrl: string } {
  const url = URL.canParse(text) && new URL(text)
  if (!url || !/^https?:/.test(url.href) || url.username || url.password) {
    // A password, or an API key in the wrong place, must not reach a log.
    const shown = text.replace(/.*@|stet_.*/, '***')
    throw new ConfigurationError(`baseUrl (STET_BASE_URL) must be an http address without a password, not '${shown}'`)
  }
  const [, root = '', prefix = API_PREFIX] = /^(.*?)(\/api\/v\d+)?\/*$/.exec(url.pathname) ?? []
  const rootUrl = url.origin + root
  return { baseUrl: rootUrl + prefix, rootUrl }
}
