/** MCP clients of both protocol eras, over HTTP and through the bridge. Prints one line for each check. */
import { Client as C2, StreamableHTTPClientTransport as T2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as S2 } from '@modelcontextprotocol/client/stdio'
import { Client as C1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as S1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as T1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { STET_BASE_URL: base = '', STET_API_KEY: key = '', STET_BRIDGE: program = '', HOME = '' } = process.env
const url = new URL(`${base}/mcp`)
const requestInit = { headers: { Authorization: `Bearer ${key}` } }
const bridge = {
  command: process.execPath,
  args: [program, 'mcp'],
  env: { STET_BASE_URL: base, STET_API_KEY: key, HOME },
  stderr: 'ignore',
}
const info = { name: 'suite', version: '1' }
const tool = 'support__reply'

async function check(name, work) {
  try {
    if ((await work()) === false) throw new Error('is false')
    console.log(`ok ${name}`)
  } catch (error) {
    console.log(`FAIL ${name}: ${String(error?.message).slice(0, 300)}`)
  }
}

const connected = async (client, transport) => {
  await client.connect(transport)
  return client
}
const negotiating = (mode) => new C2(info, { versionNegotiation: { mode } })
const clients = {
  'sdk1 http': () => connected(new C1(info), new T1(url, { requestInit })),
  'sdk1 bridge': () => connected(new C1(info), new S1(bridge)),
  'sdk2 http default': () => connected(new C2(info), new T2(url, { requestInit })),
  'sdk2 http auto': () => connected(negotiating('auto'), new T2(url, { requestInit })),
  'sdk2 http pinned': () => connected(negotiating({ pin: '2026-07-28' }), new T2(url, { requestInit })),
  'sdk2 bridge auto': () => connected(negotiating('auto'), new S2(bridge)),
}

for (const [name, open] of Object.entries(clients)) {
  let client
  await check(`${name} connect`, async () => {
    client = await open()
  })
  if (!client) continue
  const callTool = (ticket, options) => {
    const call = { name: tool, arguments: { ticket } }
    return client instanceof C1 ? client.callTool(call, undefined, options) : client.callTool(call, options)
  }
  await check(`${name} prompts`, async () => {
    const { prompts } = await client.listPrompts()
    const { messages } = await client.getPrompt({ name: prompts[0].name, arguments: { ticket: 'T' } })
    return messages.some(({ content }) => content.text === 'T')
  })
  await check(`${name} resources`, async () => {
    const { resources } = await client.listResources()
    const { contents } = await client.readResource({ uri: resources[0].uri })
    return contents[0].text.includes('description: Answers')
  })
  await check(`${name} tool with progress and structured output`, async () => {
    const seen = []
    await client.listTools()
    const { structuredContent } = await callTool('T', { onprogress: ({ progress }) => seen.push(progress) })
    return structuredContent.answer === 'Yes' && seen[0] === 1
  })
  await check(`${name} failed tool`, async () => (await callTool('FAIL')).isError === true)
  await check(`${name} cancel`, async () => {
    const controller = new AbortController()
    const call = callTool('SLOW', { signal: controller.signal, onprogress: () => controller.abort('stop') })
    return call.then(
      () => false,
      () => true,
    )
  })
  await client.close()
}

await check('401', async () => {
  const failed = await connected(new C1(info), new T1(url)).catch((error) => error)
  return /401|Authorization/.test(String(failed?.message))
})
await check('403 for a foreign origin', async () => {
  const headers = { origin: 'https://evil.example', 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: '{}' })).status === 403
})
await check('405 for GET', async () => (await fetch(url, { headers: requestInit.headers })).status === 405)
