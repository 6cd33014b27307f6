import type { lookup } from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createModelDrivers } from '../../src/adapters/providers/registry.ts'
import {
  AddressRefused,
  addressGuard,
  checkedLookup,
  type GuardSettings,
  isPrivateAddress,
} from '../../src/adapters/providers/transport/address-guard.ts'
import { systemClock } from '../../src/shared/clock.ts'
import { type FakeProvider, fakeProvider } from '../support/fake-provider.ts'
import { callOf, chunksOf, failureOf, modelRequest, providerAt, textOf } from '../support/model-request.ts'

let fake: FakeProvider
beforeAll(async () => {
  fake = await fakeProvider()
})
afterAll(() => fake.close())

/** A fake name server that returns the next answer at each query. */
function nameServer(...answers: string[][]): typeof lookup {
  let asked = 0
  const answer = (
    _name: string,
    _options: unknown,
    done: (error: null, addresses: { address: string; family: number }[]) => void,
  ) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? []
    asked += 1
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return answer as unknown as typeof lookup
}

async function callAt(url: string, settings: Partial<GuardSettings> = {}, isTrusted = false) {
  const drivers = createModelDrivers({
    guard: { allowedPrivateHosts: [], ...settings },
    clock: systemClock,
    limits: { backoffMs: 1 },
  })
  const provider = providerAt(url, { kind: 'custom', trustedAddress: isTrusted })
  try {
    const batches = callOf(drivers.driverFor(provider), modelRequest(url, { provider, maxRetries: 0 }))
    return await chunksOf(batches).then(textOf, (error: unknown) => error)
  } finally {
    await drivers.close()
  }
}

/** Returns the number of connections to the fake, without this function's own last one. */
async function connectionsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = fake.connections
  await work()
  await (await fetch(fake.url, { headers: { connection: 'close' } })).text()
  return fake.connections - before - 1
}

const refused = { kind: 'misconfigured', message: expect.stringContaining('not allowed') }

describe('base URLs in private networks', () => {
  it('are refused when saved, with the setting that allows them', async () => {
    const saved = addressGuard({ allowedPrivateHosts: [] }).assertOutboundAddress('http://127.0.0.1:11434/v1')
    const message = 'To allow it, set STET_ALLOWED_PRIVATE_HOSTS=127.0.0.1:11434'
    await expect(saved).rejects.toThrow(message)
  })

  it.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0x7f.1', '0.0.0.0', 'localhost', '10.0.0.1'],
    ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[::]', '[fe80::1]', '[fd00::1]'],
    ...['169.254.169.254', '172.16.0.1', '192.168.1.1', '100.64.0.1', '224.0.0.1', '255.255.255.255'],
    ...['[ff02::1]', '[2002:7f00:1::]', '[64:ff9b:1::1]', '[fec0::1]'],
  ])('are refused when connecting, and nothing is sent: %s', async (host) => {
    const work = async () => expect(await callAt(`http://${host}:${fake.port}/v1`)).toMatchObject(refused)
    expect(await connectionsDuring(work)).toBe(0)
  })

  it('are refused for a name with any private address', async () => {
    const work = async () => {
      for (const resolve of [nameServer(['127.0.0.1']), nameServer(['198.41.0.4', '::1'])]) {
        expect(await callAt(`http://models.test:${fake.port}/v1`, { resolve })).toMatchObject(refused)
      }
    }
    expect(await connectionsDuring(work)).toBe(0)
  })

  it('cannot be reached through a name that changes between lookups', async () => {
    const lookUp = checkedLookup(nameServer(['198.41.0.4'], ['127.0.0.1']))
    const ask = () =>
      new Promise((resolve) => lookUp('models.test', { all: true }, (error, addresses) => resolve(error ?? addresses)))
    expect(await ask()).toEqual([{ address: '198.41.0.4', family: 4 }])
    expect(await ask()).toBeInstanceOf(AddressRefused)
  })

  it('cannot be reached through a redirect', async () => {
    const hidden = createServer((_request, response) => response.end('secret'))
    hidden.listen(0, '127.0.0.1')
    await once(hidden, 'listening')
    const { port } = hidden.address() as AddressInfo
    let visits = 0
    hidden.on('connection', () => (visits += 1))
    for (const status of [301, 302, 303, 307, 308]) {
      fake.enqueue({ status, headers: { location: `http://127.0.0.1:${port}/` } })
      expect(await callAt(fake.url, {}, true)).toMatchObject({ kind: 'rejected', status })
    }
    expect(visits).toBe(0)
    hidden.close()
  })
})

describe('allowed private addresses', () => {
  it.each(['127.0.0.1', `127.0.0.1:${0}`, 'LOCALHOST'])('are set by the operator: %s', async (entry) => {
    const host = entry.toLowerCase().split(':')[0]
    const allowed = entry.replace(/:0$/, `:${fake.port}`)
    fake.enqueue({ text: 'local' })
    expect(await callAt(`http://${host}:${fake.port}/v1`, { allowedPrivateHosts: [allowed] })).toBe('local')
  })

  it('apply only to the given host and port', async () => {
    expect(await callAt(fake.url, { allowedPrivateHosts: ['127.0.0.1:1', 'localhost', '127.0.0'] })).toMatchObject(
      refused,
    )
  })

  it('include an address from the environment, whose connections are not shared', async () => {
    const drivers = createModelDrivers({ guard: { allowedPrivateHosts: [] }, clock: systemClock })
    const call = (trustedAddress: boolean) => {
      const provider = providerAt(fake.url, { trustedAddress })
      return callOf(drivers.driverFor(provider), modelRequest(fake.url, { provider, maxRetries: 0 }))
    }
    expect(textOf(await chunksOf(call(true)))).not.toBe('')
    expect(await failureOf(call(false))).toMatchObject(refused)
    await drivers.close()
  })
})

describe('stored address', () => {
  const guard = addressGuard({ allowedPrivateHosts: ['ollama.lan:11434'], resolve: nameServer(['10.1.2.3']) })

  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:1',
    'no url',
    'http://',
    'http://user:pass@198.41.0.4/',
    'http://127.0.0.1/',
    'http://[::1]/v1',
    'http://2130706433/',
    'https://10.0.0.1/',
    'http://inside.test/',
    'http://ollama.lan:80/',
  ])('refuses %s', async (url) => {
    await expect(guard.assertOutboundAddress(url)).rejects.toMatchObject({
      code: 'BadRequestError',
      details: { issues: [{ path: ['url'] }] },
    })
  })

  it.each([
    ['http://ollama.lan:11434/v1', 'allowed'],
    ['https://198.41.0.4/v1', 'public'],
  ])('accepts %s as %s', async (url, reach) => {
    expect(await guard.assertOutboundAddress(url)).toBe(reach)
  })
})

describe('address ranges', () => {
  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    'treats %s as public',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false)
    },
  )

  it.each(['', 'example.com', '1.2.3', '::ffff:10.0.0.1', 'fe80::1%eth0', '64:ff9b::', '2001::1', '3fff::1'])(
    'treats %s as not public',
    (address) => {
      expect(isPrivateAddress(address)).toBe(true)
    },
  )
})
