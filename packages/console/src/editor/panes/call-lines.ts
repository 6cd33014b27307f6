/** How a prompt is called from code. Keys are left out: the page has none. Pure. */

/** A run of a prompt. */
export interface Call {
  /** The address of the server, without a slash at its end. */
  server: string
  projectId: number
  /** `live` or a uuid. */
  versionUuid: string
  path: string
  parameters: Readonly<Record<string, unknown>>
  /** Whether the prompt answers with an object. */
  isObject?: boolean
}

export function sdkLines({ server, projectId, versionUuid, path, parameters, isObject }: Call): string {
  const options = [
    `projectId: ${projectId},`,
    ...(versionUuid === 'live' ? [] : [`versionUuid: '${versionUuid}',`]),
    ...(Object.keys(parameters).length > 0 ? [`parameters: ${literal(parameters)},`] : []),
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

export function curlLines({ server, projectId, versionUuid, path, parameters }: Call): string {
  const body = JSON.stringify({ path, parameters, stream: false })
  return [
    `curl ${server}/api/v3/projects/${projectId}/versions/${versionUuid}/documents/run \\`,
    '  -H "Authorization: Bearer $STET_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n')
}

export function cliLine({ projectId, versionUuid, path, parameters }: Call): string {
  const inputs = Object.entries(parameters).map(
    ([name, value]) => ` -p ${name}${typeof value === 'string' ? '' : ':'}=${shell(value)}`,
  )
  const version = versionUuid === 'live' ? '' : ` --version-uuid ${versionUuid}`
  return `stet run ${shell(path)} --project ${projectId}${version}${inputs.join('')}`
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

function shell(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
