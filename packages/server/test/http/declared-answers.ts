/** Every response in a test must be declared by its route, with a declared cause in `reason`. */
import { ERROR_CAUSES, type ErrorCause } from '@stet/contract'
import { allRoutes } from './contract-routes.ts'

const routes = allRoutes.map((route) => {
  // A prompt's path may contain slashes. Other parameters are a single segment.
  const pattern = route.path.replace(/:path$/, '.+').replace(/:\w+/g, '[^/]+')
  return { route, pattern: new RegExp(`^${route.prefix}${pattern}/?$`) }
})

export interface SeenAnswer {
  status: number
  text: string
}

/** Ignores requests that match no route. @throws Error for a response that the contract does not declare. */
export function assertDeclared(method: string, url: string, { status, text }: SeenAnswer): void {
  const { pathname } = new URL(url)
  const wanted = method === 'HEAD' ? 'GET' : method
  const { route } = routes.find((each) => each.route.method === wanted && each.pattern.test(pathname)) ?? {}
  if (!route || isOfNoRoute(status, text)) return
  if (status < 400) {
    if (route.successes.includes(status)) return
    throw new Error(`${route.name} answered ${status}, which it does not declare`)
  }
  // A HEAD response has no body.
  if (method === 'HEAD') return
  const cause = causeOf(JSON.parse(text))
  if (cause && route.causes.includes(cause)) return
  throw new Error(
    `${route.name} answered ${status} for ${cause ?? 'an unknown cause'}, which it does not declare: ${text}`,
  )
}

/** The cause in an error body. Undefined if the contract does not list its reason. */
export function causeOf({ name, reason }: Record<string, unknown>): ErrorCause | undefined {
  return (Object.keys(ERROR_CAUSES) as ErrorCause[]).find(
    (cause) => cause === reason && ERROR_CAUSES[cause].code === name,
  )
}

// A path that only resembles a route (for example with two trailing slashes), or a request refused by the HTTP
// parser.
function isOfNoRoute(status: number, text: string): boolean {
  return (
    status === 405 || status === 408 || status === 431 || /"message":"(Route not found: |Malformed HTTP)/.test(text)
  )
}
