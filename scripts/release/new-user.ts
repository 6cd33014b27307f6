/** The first minutes of a new user, who has Node, npm and the registry, but no clone. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { run, say, withServer } from '../walk/commands.ts'

const FIRST_ANSWER_LIMIT_MS = 60_000

export const PROMPT = `---
provider: demo
model: demo
---
Answer the customer.
<user>{{ ticket }}</user>
`
const TICKET = 'Where is my order?'

const APPLICATION = `import { Stet } from '@stet/sdk'

const stet = new Stet({ projectId: Number(process.argv[2]) })
const stream = stet.prompts.stream('support/reply', { parameters: { ticket: '${TICKET}' } })
let pieces = 0
for await (const text of stream.textStream) {
  pieces += 1
  process.stdout.write(text)
}
const { response } = await stream.finalResult()
if (pieces < 2 || response.text === '') throw new Error('the answer was not streamed')
`

/** The environment of a user without this clone: `PATH` has none of the clone's programs. */
export function userEnvironment(node = process.execPath): NodeJS.ProcessEnv {
  const machine = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  return { PATH: [dirname(node), ...machine].join(delimiter), NODE_PATH: '', STET_LOG_LEVEL: 'warn' }
}

/**
 * Goes from an empty folder to a streamed answer, then runs an application.
 * @returns milliseconds until the answer, and the port of the server that the user logged in to
 */
export async function walkNewUser(folder: string, install: string): Promise<{ answeredMs: number; port: string }> {
  mkdirSync(join(folder, 'prompts', 'support'), { recursive: true })
  writeFileSync(join(folder, 'prompts', 'support', 'reply.promptl'), PROMPT)
  const startedMs = Date.now()
  await run(install, folder, userEnvironment())
  let answeredMs = 0
  let port = ''
  await withServer(
    'npx stet serve',
    folder,
    async (address) => {
      port = new URL(address).port
      await publishPrompt(folder, address)
      await runPrompt(folder, address)
      answeredMs = Date.now() - startedMs
      await runApplication(folder, address)
    },
    userEnvironment(),
  )
  if (answeredMs > FIRST_ANSWER_LIMIT_MS) throw new Error(`the first answer took ${answeredMs / 1000} s`)
  return { answeredMs, port }
}

export async function publishPrompt(folder: string, address: string): Promise<void> {
  const commands = [
    'npx stet login --api-key-stdin < .stet/admin.key',
    'npx stet init --create "Support bot"',
    'npx stet push',
    'npx stet publish --yes',
    'npx stet status --check',
  ]
  for (const command of commands) await run(command, folder, at(address))
}

/** Runs the published prompt. @returns the uuid of the conversation */
export async function runPrompt(folder: string, address: string, node = process.execPath): Promise<string> {
  const command = `npx stet run support/reply --json -p ticket="${TICKET}" > answer.ndjson`
  await run(command, folder, at(address, node))
  const lines = readFileSync(join(folder, 'answer.ndjson'), 'utf8').trim().split('\n')
  const events = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  const answered = JSON.stringify(events.at(-1))
  if (events.length < 3 || !answered.includes(TICKET)) throw new Error(`the run printed ${lines.join('\n')}`)
  const [, uuid] = /"(?:conversationUuid|uuid)":"([0-9a-f-]{36})"/.exec(lines.join('\n')) ?? []
  if (uuid === undefined) throw new Error(`the run printed no conversation uuid: ${lines.join('\n')}`)
  return uuid
}

export async function runApplication(folder: string, address: string, node = process.execPath): Promise<void> {
  writeFileSync(join(folder, 'app.mjs'), APPLICATION)
  const said = await run('STET_API_KEY=$(cat .stet/admin.key) node app.mjs 2', folder, at(address, node))
  if (!said.includes(TICKET)) throw new Error(`the application said: ${said}`)
}

/** Starts the installed server with another Node, and uses it with the installed command line and SDK. */
export async function walkOtherNode(folder: string, port: string, node: string): Promise<void> {
  await withServer(
    'npx stet serve',
    folder,
    async (address) => {
      await runPrompt(folder, address, node)
      await runApplication(folder, address, node)
    },
    { ...userEnvironment(node), PORT: port },
  )
  say(`server, command line and SDK on ${node}`)
}

export function at(address: string, node?: string): NodeJS.ProcessEnv {
  return { ...userEnvironment(node), STET_BASE_URL: address }
}
