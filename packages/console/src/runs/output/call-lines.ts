/** How a prompt is called from code. Keys are left out: the page has none. Pure. */
import type { Message, Run } from '@stet/sdk'

/** A run of a prompt. */
export interface Call {
  /** The address of the server, without a slash at its end. */
  server: string
  projectId: number
  /** `live` or a uuid. */
  versionUuid: string
  path: string
  parameters: Readonly<Record<string, unknown>>
  /** The caller's own, after those of the prompt. */
  messages?: readonly Message[]
  /** Null if the caller gave none. */
  overrides?: Run['overrides']
  /** Whether the prompt answers with an object. */
  isObject?: boolean
}

export function sdkLines({ server, projectId, versionUuid, path, parameters, isObject, ...more }: Call): string {
  const options = [
    `projectId: ${projectId},`,
    ...(versionUuid === 'live' ? [] : [`versionUuid: '${versionUuid}',`]),
    ...(Object.keys(parameters).length > 0 ? [`parameters: ${literal(parameters)},`] : []),
    ...Object.entries(given(more)).map(([name, value]) => `${name}: ${JSON.stringify(value)},`),
  ]
  return [
    "import { Stet } from '@stet/sdk'",
    '',
    `const stet = new Stet({ baseUrl: '${server}', apiKey: process.env.STET_API_KEY })`,
    `const { response } = await stet.prompts.run(${quoted(path)}, {`,
    ...options.map((line) => `  ${line}`),
    '})',
    `console.log(response.${isObject ? 'object' : 'text'})`,
  ].join('\n')
}

export function curlLines({ server, projectId, versionUuid, path, parameters, ...more }: Call): string {
  const body = JSON.stringify({ path, parameters, ...given(more), stream: false })
  return [
    `curl ${server}/api/v3/projects/${projectId}/versions/${versionUuid}/documents/run \\`,
    '  -H "Authorization: Bearer $STET_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d ${shell(body)}`,
  ].join('\n')
}

/** Leaves out what `notInCli` finds. */
export function cliLine({ projectId, versionUuid, path, parameters, messages = [] }: Call): string {
  const version = versionUuid === 'live' ? [] : ['--version-uuid', versionUuid]
  const isPiped = Object.keys(parameters).some((name) => /^$|^-|=/.test(name))
  const inputs = Object.entries(parameters).flatMap(([name, value]) => ['-p', inputOf(name, value)])
  const said = messages.flatMap((message) => textOf(message) ?? []).map((text) => `--message=${text}`)
  const words = [
    'run',
    path,
    '--project',
    String(projectId),
    ...version,
    ...(isPiped ? ['--params', '-'] : inputs),
    ...said,
  ]
  return `${isPiped ? `printf %s ${shell(JSON.stringify(parameters))} | ` : ''}stet ${words.map(shell).join(' ')}`
}

/** The parts of a call for which the command line has no flags, in words. */
export function notInCli({ messages = [], overrides }: Pick<Call, 'messages' | 'overrides'>): string[] {
  return [
    ...(overrides ? ['the overrides'] : []),
    ...(messages.some((message) => textOf(message) === null)
      ? ['messages with files, or of other roles than `user`']
      : []),
  ]
}

/** A text that begins with `@` would be the name of a file, and a colon before the sign would announce JSON. */
function inputOf(name: string, value: unknown): string {
  const isText = typeof value === 'string' && !value.startsWith('@') && !name.endsWith(':')
  return isText ? `${name}=${value}` : `${name}:=${JSON.stringify(value)}`
}

/** Null for messages that are not a text of the user. */
function textOf({ role, content }: Message): string | null {
  if (role !== 'user') return null
  if (typeof content === 'string') return content
  const [part, ...others] = content
  return part?.type === 'text' && others.length === 0 ? part.text : null
}

function given({ messages = [], overrides }: Pick<Call, 'messages' | 'overrides'>): object {
  return { ...(messages.length > 0 && { messages }), ...(overrides && { overrides }) }
}

function literal(values: Call['parameters']): string {
  const entries = Object.entries(values).map(([name, value]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
    return `${key}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`
  })
  return `{ ${entries.join(', ')} }`
}

function quoted(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1)
  return `'${escaped.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function shell(text: string): string {
  return /^[\w./:@-][\w./:@=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
