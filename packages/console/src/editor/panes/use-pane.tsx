import { base } from '../../app/session.ts'
import { Code } from '../../ui/copy.tsx'
import { Notice } from '../../ui/states.tsx'
import type { Opened } from '../open-prompt.ts'
import css from './panes.module.css'

/** How this prompt is called from code. */
export function UsePane({ open }: { open: Opened }) {
  const { document, place, status } = open
  const server = base.href.replace(/\/$/, '')
  const isLive = status.kind === 'live'
  const call = { server, projectId: place.projectId, versionUuid: isLive ? 'live' : place.versionUuid, document }
  return (
    <div className={css['pane']}>
      {!isLive && <Notice>These lines call this version. Without the version, they call live.</Notice>}
      <h2 className={css['heading']}>TypeScript</h2>
      <Code text={sdkLines(call)} label="TypeScript" />
      <h2 className={css['heading']}>curl</h2>
      <Code text={curlLines(call)} label="curl command" />
      <h2 className={css['heading']}>Command line</h2>
      <Code text={cliLine(call)} label="stet command" />
    </div>
  )
}

interface Call {
  server: string
  projectId: number
  versionUuid: string
  document: Opened['document']
}

function sdkLines({ server, projectId, versionUuid, document }: Call): string {
  const parameters = exampleValues(document)
  const options = [
    `projectId: ${projectId},`,
    ...(versionUuid === 'live' ? [] : [`versionUuid: '${versionUuid}',`]),
    ...(Object.keys(parameters).length > 0 ? [`parameters: ${literal(parameters)},`] : []),
  ]
  return [
    "import { Stet } from '@stet/sdk'",
    '',
    `const stet = new Stet({ baseUrl: '${server}', apiKey: process.env.STET_API_KEY })`,
    `const { response } = await stet.prompts.run(${quoted(document.path)}, {`,
    ...options.map((line) => `  ${line}`),
    '})',
    `console.log(response.${document.config['schema'] ? 'object' : 'text'})`,
  ].join('\n')
}

function curlLines({ server, projectId, versionUuid, document }: Call): string {
  const body = JSON.stringify({ path: document.path, parameters: exampleValues(document), stream: false })
  return [
    `curl ${server}/api/v3/projects/${projectId}/versions/${versionUuid}/documents/run \\`,
    '  -H "Authorization: Bearer $STET_API_KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n')
}

function cliLine({ projectId, versionUuid, document }: Call): string {
  const inputs = Object.entries(exampleValues(document)).map(
    ([name, value]) => ` -p ${name}${typeof value === 'string' ? '' : ':'}=${shell(value)}`,
  )
  const version = versionUuid === 'live' ? '' : ` --version-uuid ${versionUuid}`
  return `stet run ${shell(document.path)} --project ${projectId}${version}${inputs.join('')}`
}

/** A value for each parameter, by its declared type. */
function exampleValues({ parameters, config }: Opened['document']): Record<string, unknown> {
  const declared: Record<string, unknown> = Object(config['parameters'])
  const values: Record<string, unknown> = {
    number: 1,
    integer: 1,
    boolean: true,
    object: {},
    array: [],
    image: 'https://example.com/image.png',
    file: 'https://example.com/file.pdf',
  }
  return Object.fromEntries(
    Object.entries(parameters).map(([name, { type }]) => [
      name,
      values[String(Object(declared[name]).type ?? type)] ?? '…',
    ]),
  )
}

function literal(values: Record<string, unknown>): string {
  const entries = Object.entries(values).map(([name, value]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
    return `${key}: ${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`
  })
  return `{ ${entries.join(', ')} }`
}

function quoted(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}

function shell(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
