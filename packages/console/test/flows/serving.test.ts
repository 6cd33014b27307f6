import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { consoleBrowser } from '../support/browser.ts'
import { consoleServer, sharedServer } from '../support/server.ts'

const browser = consoleBrowser()
const prefix = '/tools/stet'

test('the page may write to the clipboard, and reach no device, credential or model', async () => {
  const server = await sharedServer()
  const { page } = await browser.open(server, '/sign-in', { key: null })
  const features = await page.evaluate(() => {
    const { featurePolicy } = document as Document & { featurePolicy?: { allowedFeatures(): string[] } }
    return featurePolicy?.allowedFeatures() ?? []
  })
  // Hints of the browser, the page's own life cycle, and networks: the server itself may be at a local address.
  const harmless =
    /^ch-|^(aria-notify|cross-origin-isolated|interest-cohort|media-playback-while-not-visible|unload)$|^deferred-fetch|network/
  expect(features.filter((name) => !harmless.test(name))).toEqual(['clipboard-write'])
})

test('below a path of a proxy, at another host name', async () => {
  const server = await consoleServer({}, { STET_PUBLIC_URL: `https://stet.example.com${prefix}` })
  onTestFinished(() => server.close())
  const asked: string[] = []
  const proxy = createServer((req, res) => {
    const path = req.url ?? ''
    asked.push(path)
    if (!path.startsWith(`${prefix}/`)) return void res.writeHead(404).end()
    const { method, headers } = req
    const forwarded = request(new URL(path.slice(prefix.length), server.server.url), { method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    req.pipe(forwarded)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo
  const proxied = { ...server, address: (path: string) => `http://127.0.0.1:${port}${prefix}${path}` }
  const { page } = await browser.open(proxied, '/sign-in', { key: null, allow: /status of 401/ })
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.goto(proxied.address(`/p/1/v/live/prompts/${encodeURIComponent('support/réply')}`))
  await page.locator('#root > *').first().waitFor()
  expect(page.url()).toContain(`:${port}${prefix}/`)
  expect(asked.filter((path) => !path.startsWith(`${prefix}/`))).toEqual([])
  expect(asked.filter((path) => path.startsWith(`${prefix}/assets/`)).length).toBeGreaterThan(3)
})
