/** `pnpm bench:unread`: the memory cost of clients that send many requests and never read. Exit code 1 above 100 MB. */
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { settledBytes } from '../measuring/settled-bytes.ts'
import { closeAll, type Stet, startStet, startUpstream } from '../subjects/candidates.ts'
import { describeMachine } from '../subjects/machine.ts'

const limitMegabytes = 100
const only = process.env['ONLY']
const upstream = await startUpstream()
let isExceeded = false

for (const path of ['/openapi.json', '/docs/reference.js']) {
  for (const encoding of path === '/openapi.json' ? ['gzip', 'identity'] : ['gzip']) {
    await measure(`600 connections, 8 pipelined GET ${path} each, ${encoding}`, async () => ({
      connections: 600,
      text: `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: ${encoding}\r\n\r\n`.repeat(8),
    }))
  }
}
await measure('200 unread conversations of 3.8 MB', async (stet) => {
  const path = `/api/v3/conversations/${await recordConversation(stet, 3_800_000)}`
  // Warm-up: grows the database's memory for one such conversation before the attack is measured.
  for (let reads = 0; reads < 3; reads += 1) await (await fetch(stet.url + path, { headers: stet.headers })).text()
  const text = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${stet.headers['authorization']}\r\n\r\n`
  return { connections: 200, text }
})
console.log(JSON.stringify({ bench: 'unread', ...describeMachine() }))
await closeAll(upstream)
if (isExceeded) process.exitCode = 1

interface Attack {
  connections: number
  text: string
}

/** Starts a separate server for each attack. Warms it up with one request for each shared body, plain and compressed. */
async function measure(attack: string, prepare: (stet: Stet) => Promise<Attack>): Promise<void> {
  if (only !== undefined && !new RegExp(only).test(attack)) return
  const stet = await startStet(upstream.url)
  for (const path of ['/docs', '/openapi.json', '/docs/reference.js']) {
    for (const encoding of ['gzip', 'identity'])
      await (await fetch(`${stet.url}${path}`, { headers: { 'accept-encoding': encoding } })).text()
  }
  const { connections, text } = await prepare(stet)
  const before = await settledBytes(stet)
  let most = before
  let isWatching = true
  const watching = (async () => {
    while (isWatching) {
      most = Math.max(most, stet.residentBytes())
      await pause(100)
    }
  })()
  const sockets = await openAll(stet, connections, text)
  await pause(15_000)
  isWatching = false
  await watching
  const startedMs = performance.now()
  const answer = await fetch(`${stet.url}/health`).then(
    ({ status }) => status,
    () => 0,
  )
  const healthMs = performance.now() - startedMs
  for (const socket of sockets) socket.destroy()
  const after = await settledBytes(stet)
  const megabytes = (bytes: number) => Math.round(bytes / 1_048_576)
  const figures = { before: megabytes(before), most: megabytes(most), added: megabytes(most - before) }
  console.log(JSON.stringify({ bench: 'unread', attack, ...figures, afterwards: megabytes(after), answer, healthMs }))
  if (figures.added > limitMegabytes) isExceeded = true
  await stet.close()
}

async function openAll(stet: Stet, connections: number, text: string): Promise<Socket[]> {
  const { hostname, port } = new URL(stet.url)
  const sockets: Socket[] = []
  for (let opened = 0; opened < connections; opened += 1) {
    const socket = connect(Number(port), hostname)
    // The server may close connections that never read.
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(text)
    sockets.push(socket)
    if (opened % 20 === 0) await pause(10)
  }
  return sockets
}

async function recordConversation(stet: Stet, bytes: number): Promise<string> {
  const answer = await fetch(`${stet.url}/api/v3/projects/1/versions/live/documents/logs`, {
    method: 'POST',
    headers: { ...stet.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'bench', messages: [{ role: 'user', content: 'x'.repeat(bytes) }] }),
  })
  const { uuid } = (await answer.json()) as { uuid?: string }
  if (uuid === undefined) throw new Error(`the conversation was answered ${answer.status}`)
  return uuid
}
