/** Requests on connections that were open before the server began to stop. */
import { Agent, request } from 'node:http'
import { expect } from 'vitest'
import { prompt, runBench } from '../../runs/run-bench.ts'
import type { ApiAnswer } from '../api-call.ts'
import { fill, type WalkedRoute } from '../contract-routes.ts'

/** Returns one response per route, in order. A run keeps the server open until all have arrived. */
export async function callWhileDraining(routes: readonly WalkedRoute[]): Promise<ApiAnswer[]> {
  const bench = await runBench({ hello: prompt('<user>Hi</user>') })
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  bench.fake.enqueue({ text: 'Hello.', gate })
  const response = await bench.open('hello')
  const ask = (agent: Agent, method: string, path: string) =>
    askOn(agent, method, `${bench.server.url}${path}`, bench.key)
  const kept = await Promise.all(
    routes.map(async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      expect(await ask(agent, 'GET', '/health')).toMatchObject({ status: 200 })
      return agent
    }),
  )
  const closing = bench.server.close()
  const isListening = () =>
    fetch(`${bench.server.url}/health`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    )
  await expect.poll(isListening).toBe(false)
  const answers = await Promise.all(
    kept.map((agent, place) => ask(agent, routes[place]?.method ?? '', addressOf(routes[place]))),
  )
  release()
  expect(await response.text()).toContain('chain-completed')
  await closing
  await bench.fake.close()
  for (const agent of kept) agent.destroy()
  return answers
}

function addressOf(route: WalkedRoute | undefined): string {
  return route ? route.prefix + fill(route.path) : ''
}

function askOn(agent: Agent, method: string, url: string, key: string): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, agent, headers: { authorization: `Bearer ${key}` } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (piece: string) => {
        text += piece
      })
      answer.once('error', reject)
      answer.once('end', () => {
        const headers = new Headers(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]))
        resolve({ status: answer.statusCode ?? 0, headers, text, body: JSON.parse(text) as ApiAnswer['body'] })
      })
    })
    asking.once('error', reject).end()
  })
}
