/** Checks the address of a provider key when the key is saved, for early feedback, and at each connection. */
import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressGuard } from '../../../features/providers/ports.ts'
import { issueAt, refuse } from '../../../shared/app-error.ts'
import { isPrivateAddress } from './private-address.ts'

export interface GuardSettings {
  /** `host` or `host:port` as written in a base URL. These hosts may have private addresses. */
  allowedPrivateHosts: readonly string[]
  resolve?: typeof lookup
}

/** Reports a private address before any connection is made. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

const refusal =
  'The address is not allowed: it leads into a private or reserved network. To allow it, set STET_ALLOWED_PRIVATE_HOSTS'

export function addressGuard({ allowedPrivateHosts, resolve = lookup }: GuardSettings): AddressGuard {
  return {
    async assertOutboundAddress(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (!url || !/^https?:$/.test(url.protocol)) throw refused('must be an http or https URL')
      if (url.username !== '' || url.password !== '') throw refused('must not contain credentials')
      if (isAllowedHost(allowedPrivateHosts, url)) return 'allowed'
      const host = bareHost(url.hostname)
      const addresses = isIP(host) === 0 ? await resolveAll(resolve, host) : [host]
      if (addresses.some(isPrivateAddress)) throw refused(`${refusal}=${url.host}`)
      return 'public'
    },
  }
}

/** Returns an empty list if the name does not resolve within 2 seconds. Each connection is checked again. */
function resolveAll(resolve: typeof lookup, host: string): Promise<string[]> {
  return new Promise((done) => {
    const timer = setTimeout(done, 2_000, [])
    resolve(host, { all: true }, (error, addresses) => {
      clearTimeout(timer)
      done(error ? [] : addresses.map(({ address }) => address))
    })
  })
}

function refused(reason: string) {
  return refuse('invalid-body', issueAt('url', reason))
}

export function guardedConnect(settings: GuardSettings, connectMs: number): buildConnector.connector {
  const guarded = buildConnector({ timeout: connectMs, lookup: checkedLookup(settings.resolve ?? lookup) })
  const free = buildConnector({ timeout: connectMs })
  return (options, callback) => {
    if (isAllowedHost(settings.allowedPrivateHosts, options)) return free(options, callback)
    const host = bareHost(options.hostname)
    if (isIP(host) !== 0 && isPrivateAddress(host)) return callback(new AddressRefused(refusal), null)
    guarded(options, callback)
  }
}

/** Rejects a name that has no address, or that has a private address. */
export function checkedLookup(resolve: typeof lookup): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const [first] = addresses
      if (!first || addresses.some(({ address }) => isPrivateAddress(address))) {
        return callback(new AddressRefused(refusal), '', 0)
      }
      if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function isAllowedHost(
  allowed: readonly string[],
  { hostname, protocol, port }: { hostname: string; protocol: string; port?: string | null },
): boolean {
  const host = bareHost(hostname)
  const effectivePort = port || (protocol === 'https:' ? '443' : '80')
  return allowed.some((entry) => {
    const [, name = entry, onlyPort = effectivePort] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
    return bareHost(name) === host && onlyPort === effectivePort
  })
}

function bareHost(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
}
