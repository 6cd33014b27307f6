import { API_PREFIX, consoleRoutes } from '@stet/contract/routes'
import type { SignInLink } from '@stet/contract/vocabulary'
import { CliError, codeOfStatus } from '../../exit-code.ts'

interface Server {
  /** Ends with the API prefix. */
  baseUrl: string
  apiKey: string
  timeoutMs?: number | undefined
}

/** Creates a link that signs in with the key. @throws CliError */
export async function createSignInLink({ baseUrl, apiKey, timeoutMs = 60_000 }: Server): Promise<SignInLink> {
  const address = ownAddress(baseUrl.slice(0, -API_PREFIX.length))
  const { method, path } = consoleRoutes.createLink
  const response = await fetch(`${address}${path}`, {
    method,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    body: '{}',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => {
    throw new CliError('unreachable', `No response from ${address}`, { hint: 'check that the server runs', cause })
  })
  const text = await response.text()
  if (response.ok) {
    const link = JSON.parse(text) as SignInLink
    return { ...link, url: reachable(link.url, address) }
  }
  const hint = response.status === 404 ? 'the server has no console: it is older, or started with STET_CONSOLE=off' : ''
  throw new CliError(codeOfStatus(response.status), messageOf(text) ?? `${address} answered ${response.status}`, {
    ...(hint !== '' && { hint }),
  })
}

/** Makes the link lead to `path` after the sign-in. */
export function linkTo(url: string, path: string | undefined): string {
  if (path === undefined) return url
  const [page = '', code = ''] = url.split('#')
  return `${page}?to=${encodeURIComponent(path)}#${code}`
}

/** A server that listens on all addresses is on this machine. Not every browser opens `0.0.0.0`. */
function ownAddress(address: string): string {
  return address.replace(/^(https?:\/\/)(0\.0\.0\.0|\[::\])(?=[:/]|$)/, '$1127.0.0.1')
}

/**
 * Without STET_PUBLIC_URL, a server has only the loopback address and its own port. The address that the CLI has just
 * reached also works from another machine and outside of a container.
 */
function reachable(url: string, address: string): string {
  const { hostname, pathname, hash } = new URL(url)
  if (!/^(localhost|127\..*|\[::1\])$/.test(hostname)) return url
  return `${address}${pathname.slice(pathname.lastIndexOf('/'))}${hash}`
}

function messageOf(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
