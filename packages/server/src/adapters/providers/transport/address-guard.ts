/** Checks the address of a provider key when the key is saved, for early feedback, and at each connection. */
import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import type { buildConnector } from 'undici'
import type { AddressGuard } from '../../../features/providers/ports.ts'
import { issueAt, refuse } from '../../../shared/app-error.ts'

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

export function guardedConnect(
  build: typeof buildConnector,
  settings: GuardSettings,
  connectMs: number,
): buildConnector.connector {
  const guarded = build({ timeout: connectMs, lookup: checkedLookup(settings.resolve ?? lookup) })
  const free = build({ timeout: connectMs })
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

const privateIpv4 = blockList(
  'ipv4',
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
    '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4',
)

// Includes the ranges for tunnels (6to4, Teredo, local NAT64), documentation and discarded traffic.
const privateIpv6 = blockList(
  'ipv6',
  '::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 ' +
    'fec0::/10 ff00::/8',
)

// IPv4-mapped addresses and NAT64.
const containsIpv4 = blockList('ipv6', '::ffff:0:0/96 64:ff9b::/96')

/** Also returns true for a private IPv4 address inside an IPv6 address, and for text that is not an address. */
export function isPrivateAddress(address: string): boolean {
  const [bare = ''] = address.split('%')
  const family = isIP(bare)
  if (family === 4) return privateIpv4.check(bare, 'ipv4')
  if (family !== 6) return true
  if (containsIpv4.check(bare, 'ipv6')) return isPrivateAddress(embeddedIpv4(bare))
  return privateIpv6.check(bare, 'ipv6')
}

// The URL parser normalizes every IPv6 address. The last two groups contain the IPv4 address.
function embeddedIpv4(address: string): string {
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split(':').slice(-2)
  const [high = 0, low = 0] = groups.map((group) => (group === '' ? 0 : Number.parseInt(group, 16)))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function blockList(family: 'ipv4' | 'ipv6', subnets: string): BlockList {
  const list = new BlockList()
  for (const subnet of subnets.split(' ')) {
    const [net = '', prefix] = subnet.split('/')
    list.addSubnet(net, Number(prefix), family)
  }
  return list
}
