/** Checks a base address when it is saved, so that mistakes show at once. Each connection checks it again. */
import { lookup } from 'node:dns'
import { isIP } from 'node:net'
import type { AddressGuard } from '../../features/providers/ports.ts'
import { invalid } from '../../shared/app-error.ts'
import { type GuardSettings, isAllowedHost, refusal } from './transport/guarded-connect.ts'
import { isPrivateAddress } from './transport/private-address.ts'

const resolveMs = 2_000

export function addressGuard(settings: GuardSettings): AddressGuard {
  return {
    async assertOutboundAddress(text) {
      const url = URL.canParse(text) ? new URL(text) : undefined
      if (!url || !/^https?:$/.test(url.protocol)) throw refused('must be an http or https URL')
      if (url.username !== '' || url.password !== '') throw refused('must not contain credentials')
      if (isAllowedHost(settings.allowedPrivateHosts, url)) return 'allowed'
      const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
      const addresses = isIP(host) === 0 ? await resolveAll(settings.resolve ?? lookup, host) : [host]
      if (addresses.some(isPrivateAddress)) throw refused(refusal)
      return 'public'
    },
  }
}

/** Empty if the name does not resolve now. It may later, and each connection is checked anyway. */
function resolveAll(resolve: typeof lookup, host: string): Promise<string[]> {
  return new Promise((done) => {
    const timer = setTimeout(done, resolveMs, [])
    resolve(host, { all: true }, (error, addresses) => {
      clearTimeout(timer)
      done(error ? [] : addresses.map(({ address }) => address))
    })
  })
}

function refused(reason: string) {
  return invalid(`Invalid request: url: ${reason}`, { issues: [{ path: ['url'], code: 'custom', message: reason }] })
}
