/** Every answer that a test sees must be one that its route declares. */
import { contractRoutes } from './contract-routes.ts'

const routes = contractRoutes.map(({ path, ...route }) => {
  // The path of a prompt may hold slashes; other parameters are one segment.
  const pattern = path.replace(/:path$/, '.+').replace(/:\w+/g, '[^/]+')
  return { ...route, pattern: new RegExp(`^/api/v3${pattern}/?$`) }
})

// Of a path that no route takes, though its pattern looks alike: ends in two slashes, say.
const ofNoRoute = 405

/** @throws Error for a status that the contract does not name; requests that match no route are left alone. */
export function assertDeclared(method: string, url: string, status: number): void {
  const { pathname } = new URL(url)
  const wanted = method === 'HEAD' ? 'GET' : method
  const route = routes.find((each) => each.method === wanted && each.pattern.test(pathname))
  if (!route || status === ofNoRoute || [...route.successes, ...route.errors].includes(status)) return
  throw new Error(`${route.name} answered ${status}, which it does not declare`)
}
