/** Every answer that a test sees must be one that its route declares, for the cause that it tells. */
import { causeOf, type ReadError } from './cause-of.ts'
import { contractRoutes } from './contract-routes.ts'

const routes = contractRoutes.map((route) => {
  // The path of a prompt may hold slashes; other parameters are one segment.
  const pattern = route.path.replace(/:path$/, '.+').replace(/:\w+/g, '[^/]+')
  return { route, pattern: new RegExp(`^/api/v3${pattern}/?$`) }
})

export interface SeenAnswer {
  status: number
  /** The body of an error. */
  text: string
}

/** @throws Error for an answer that the contract does not name; requests that match no route are left alone. */
export function assertDeclared(method: string, url: string, { status, text }: SeenAnswer): void {
  const { pathname } = new URL(url)
  const wanted = method === 'HEAD' ? 'GET' : method
  const { route } = routes.find((each) => each.route.method === wanted && each.pattern.test(pathname)) ?? {}
  if (!route || isOfNoRoute(status, text)) return
  if (status < 400) {
    if (route.successes.includes(status)) return
    throw new Error(`${route.name} answered ${status}, which it does not declare`)
  }
  // Nothing can be read out of the answer to a HEAD.
  if (method === 'HEAD') return
  const cause = causeOf(route, status, JSON.parse(text) as ReadError)
  if (cause && route.causes.includes(cause)) return
  throw new Error(
    `${route.name} answered ${status} for ${cause ?? 'an unknown cause'}, which it does not declare: ${text}`,
  )
}

// Of a path that no route takes, though its pattern looks alike (it ends in two slashes, say), or of the HTTP parser.
function isOfNoRoute(status: number, text: string): boolean {
  return (
    status === 405 || status === 408 || status === 431 || /"message":"(Route not found: |Malformed HTTP)/.test(text)
  )
}
